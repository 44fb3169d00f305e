/** Who gets in, and who doesn't. */
import { expect, test } from 'vitest'
import { Browser } from '../browser.ts'

test('member page asks guests to sign in', () => {
  const browser = new Browser()
  browser.get('/profile')
  expect(browser.visited).toEqual(['/profile', '/auth/login', '/identity/authorize'])
})

test('profile shows the user after sign-in', () => {
  const browser = new Browser()
  browser.get('/profile')
  browser.signIn()
  browser.get('/profile')
  expect(browser.status).toBe(200)
  expect(browser.text).toContain('mina@shop.example')
})

test('wrong password lets nobody in', () => {
  const browser = new Browser()
  browser.get('/settings')
  browser.signIn('mina', 'black-tea')
  expect(browser.status).toBe(401)
  browser.get('/settings')
  expect(browser.path).toBe('/identity/authorize')
})

test('second try with the right password works', () => {
  const browser = new Browser()
  browser.get('/settings')
  browser.signIn('mina', 'black-tea')
  browser.signIn()
  browser.get('/settings')
  expect(browser.text).toContain('Newsletter: off')
})

test('callback without a sign-in is refused', () => {
  const browser = new Browser()
  browser.get('/auth/callback?code=abc&state=abc')
  expect(browser.status).toBe(400)
})

test('invented code is refused', () => {
  const browser = new Browser()
  browser.get('/auth/login')
  browser.get(`/auth/callback?code=invented&${browser.url.split('?')[1]}`)
  expect(browser.status).toBe(403)
  browser.get('/profile')
  expect(browser.path).toBe('/identity/authorize')
})

test('state of another visitor is refused', () => {
  const browser = new Browser()
  browser.get('/auth/login')
  browser.post('/identity/authorize?state=theirs', { name: 'mina', password: 'green-tea-42' })
  expect(browser.status).toBe(400)
})

test('sign-out closes the session', () => {
  const browser = new Browser()
  browser.get('/auth/login')
  browser.signIn()
  browser.post('/auth/logout')
  expect(browser.path).toBe('/')
  browser.get('/profile')
  expect(browser.path).toBe('/identity/authorize')
})
