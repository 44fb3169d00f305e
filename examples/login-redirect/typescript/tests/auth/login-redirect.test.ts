/** Where people land after signing in. */
import { expect, test } from 'vitest'
import { createShop } from '../../src/app.ts'
import { Browser } from '../browser.ts'
import { keyReadByCallback, keyWrittenByEntry } from '../session-keys.ts'

test('returns-to-requested-page', () => {
  const browser = new Browser()
  browser.get('/settings')
  browser.signIn()
  const landed = browser.path
  expect(landed).toBe('/settings')
})

test('session-key-contract', () => {
  const shop = createShop(1)
  const producerKey = keyWrittenByEntry(shop, '/settings')
  const consumerKey = keyReadByCallback(shop)
  expect(consumerKey).toBe(producerKey)
})

test('lands-on-home-when-no-page-was-asked-for', () => {
  const browser = new Browser()
  browser.get('/auth/login')
  browser.signIn()
  expect(browser.visited).toEqual(['/identity/authorize', '/auth/callback', '/'])
  expect(browser.text).toContain('Welcome back, mina.')
})

test.each([
  ['two slashes', '//evil.example'],
  ['https', 'https://evil.example/'],
  ['backslash', '/\\evil.example'],
  ['no slash', 'evil.example'],
])('never-leaves-the-shop: %s', (_name, unsafe) => {
  const browser = new Browser()
  browser.get(`/auth/login?page=${encodeURIComponent(unsafe)}`)
  browser.signIn()
  expect(browser.path).toBe('/')
  expect(browser.text).toContain('Welcome back, mina.')
})

test('signed-in-already-goes-straight-to-the-page', () => {
  const browser = new Browser()
  browser.get('/auth/login')
  browser.signIn()
  browser.get('/auth/login?page=/profile')
  expect(browser.visited).toEqual(['/auth/login', '/profile'])
})

test('a-page-asked-for-earlier-is-not-kept-for-the-next-sign-in', () => {
  const browser = new Browser()
  browser.get('/settings')
  browser.get('/auth/login')
  browser.signIn()
  expect(browser.path).toBe('/')
})

test('the-sign-in-page-is-no-page-to-return-to', () => {
  const browser = new Browser()
  browser.get('/auth/login?page=/auth/login')
  browser.signIn()
  expect(browser.path).toBe('/')
})
