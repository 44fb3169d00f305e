/** The pages people see. A page takes the request, the session and the accounts, and gives a response. */
import { addToBasket, basketLines, basketTotal } from './basket.ts'
import { ITEMS, priceText } from './catalogue.ts'
import type { Session } from './sessions.ts'
import type { User, Users } from './users.ts'
import { escapeHtml, page, redirect, targetOf, type Request, type Response } from './web.ts'

export type Page = (request: Request, session: Session, users: Users) => Response

/** Show a page to signed-in users; send everybody else to sign in first. */
function membersOnly(show: (request: Request, user: User) => Response): Page {
  return (request, session, users) => {
    const name = session['user']
    if (name === undefined) return redirect(`/auth/login?page=${encodeURIComponent(targetOf(request))}`)
    return show(request, users.get(name))
  }
}

export const home: Page = (_request, session) => {
  const name = session['user']
  const greeting = name === undefined ? 'Welcome.' : `Welcome back, ${escapeHtml(name)}.`
  return page('Shop', [greeting, ...ITEMS.map((item) => `${item.title}: ${priceText(item.price)}`)])
}

export const showBasket: Page = (_request, session) => {
  const rows = basketLines(session).map((line) => `${line.count} x ${line.item.title}`)
  return page('Basket', [...rows, `Total: ${priceText(basketTotal(session))}`])
}

export const pickItem: Page = (request, session) =>
  addToBasket(session, request.form.get('item') ?? '') ? redirect('/basket') : page('No such item', [], 404)

export const profile = membersOnly((_request, user) =>
  page('Profile', [`Name: ${escapeHtml(user.name)}`, `E-mail: ${escapeHtml(user.email)}`]),
)

export const settings = membersOnly((_request, user) =>
  page('Settings', [`Newsletter: ${user.newsletter ? 'on' : 'off'}`]),
)

export const changeSettings = membersOnly((request, user) => {
  user.newsletter = request.form.get('newsletter') === 'on'
  return redirect('/settings')
})
