/** The pages themselves. */
import { expect, test } from 'vitest'
import { createShop } from '../src/app.ts'
import { localPath } from '../src/auth/paths.ts'
import { ITEMS } from '../src/catalogue.ts'
import { Browser } from './browser.ts'

test('home lists what is sold', () => {
  const browser = new Browser()
  browser.get('/')
  for (const item of ITEMS) expect(browser.text).toContain(item.title)
})

test('unknown page is not found', () => {
  const browser = new Browser()
  browser.get('/nowhere')
  expect(browser.status).toBe(404)
})

test('basket adds up and survives sign-in', () => {
  const browser = new Browser()
  for (const item of ['cup', 'cup', 'sencha']) browser.post('/basket', { item })
  expect(browser.path).toBe('/basket')
  browser.get('/auth/login')
  browser.signIn()
  browser.get('/basket')
  expect(browser.text).toContain('2 x Pair of cups')
  expect(browser.text).toContain('Total: 32.95 EUR')
})

test('unknown item is not added', () => {
  const browser = new Browser()
  browser.post('/basket', { item: 'samovar' })
  expect(browser.status).toBe(404)
})

test('newsletter can be switched on', () => {
  const browser = new Browser()
  browser.get('/auth/login')
  browser.signIn()
  browser.post('/settings', { newsletter: 'on' })
  expect(browser.path).toBe('/settings')
  expect(browser.text).toContain('Newsletter: on')
})

test('sessions are kept apart', () => {
  const shop = createShop(1)
  new Browser(shop).post('/basket', { item: 'teapot' })
  const stranger = new Browser(shop)
  stranger.get('/basket')
  expect(stranger.text).toContain('Total: 0.00 EUR')
  expect(shop.sessions.size).toBe(2)
})

test.each(['/', '/settings', '/basket?item=cup'])('page of the shop is kept: %s', (path) => {
  expect(localPath(path)).toBe(path)
})

test.each([null, '', 'settings', '//evil.example', '/\t/evil', '/auth/login'])('no page of the shop: %j', (path) => {
  expect(localPath(path)).toBe('/')
})
