/** The basket: what a visitor has picked, kept in the session whether or not they are signed in. */
import { findItem, ITEMS, type Item } from './catalogue.ts'
import type { Session } from './sessions.ts'

/** Put one more of an item into the basket; false if there is no such item. */
export function addToBasket(session: Session, slug: string): boolean {
  if (!findItem(slug)) return false
  session['basket'] = [...slugs(session), slug].join(' ')
  return true
}

/** The items in the basket with their counts, in the order of the catalogue. */
export function basketLines(session: Session): { item: Item; count: number }[] {
  const picked = slugs(session)
  return ITEMS.map((item) => ({ item, count: picked.filter((slug) => slug === item.slug).length })).filter(
    (line) => line.count > 0,
  )
}

/** What the basket costs, in cents. */
export function basketTotal(session: Session): number {
  return basketLines(session).reduce((total, line) => total + line.item.price * line.count, 0)
}

function slugs(session: Session): string[] {
  return (session['basket'] ?? '').split(' ').filter((slug) => slug !== '')
}
