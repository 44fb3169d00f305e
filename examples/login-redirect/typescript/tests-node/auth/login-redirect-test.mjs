// Where people land after signing in, on node:test.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import 'ts-blank-space/register'

// Imported once the line above has run: only from then on can node load TypeScript.
const { createShop } = await import('../../src/app.ts')
const { Browser } = await import('../../tests/browser.ts')
const { keyReadByCallback, keyWrittenByEntry } = await import('../../tests/session-keys.ts')

test('returns-to-requested-page', () => {
  const browser = new Browser()
  browser.get('/settings')
  browser.signIn()
  const landed = browser.path
  assert.equal(landed, '/settings')
})

test('session-key-contract', () => {
  const shop = createShop(1)
  const producerKey = keyWrittenByEntry(shop, '/settings')
  const consumerKey = keyReadByCallback(shop)
  assert.equal(consumerKey, producerKey)
})

test('lands-on-home-when-no-page-was-asked-for', () => {
  const browser = new Browser()
  browser.get('/auth/login')
  browser.signIn()
  assert.deepEqual(browser.visited, ['/identity/authorize', '/auth/callback', '/'])
})

for (const unsafe of ['//evil.example', 'https://evil.example/']) {
  test(`never-leaves-the-shop for ${unsafe}`, () => {
    const browser = new Browser()
    browser.get(`/auth/login?page=${encodeURIComponent(unsafe)}`)
    browser.signIn()
    assert.equal(browser.path, '/')
  })
}

test('signed-in-already-goes-straight-to-the-page', () => {
  const browser = new Browser()
  browser.get('/auth/login')
  browser.signIn()
  browser.get('/auth/login?page=/profile')
  assert.deepEqual(browser.visited, ['/auth/login', '/profile'])
})

test('a-page-asked-for-earlier-is-not-kept-for-the-next-sign-in', () => {
  const browser = new Browser()
  browser.get('/settings')
  browser.get('/auth/login')
  browser.signIn()
  assert.equal(browser.path, '/')
})

test('wrong-password-lets-nobody-in', () => {
  const browser = new Browser()
  browser.get('/settings')
  browser.signIn('mina', 'black-tea')
  assert.equal(browser.status, 401)
  browser.get('/settings')
  assert.equal(browser.path, '/identity/authorize')
})
