/** What the shop sells. Prices are in cents. */

export interface Item {
  readonly slug: string
  readonly title: string
  readonly price: number
}

export const ITEMS: readonly Item[] = [
  { slug: 'teapot', title: 'Clay teapot', price: 3450 },
  { slug: 'cup', title: 'Pair of cups', price: 1200 },
  { slug: 'sencha', title: 'Sencha, 100 g', price: 895 },
]

/** The item with this slug, if there is one. */
export function findItem(slug: string): Item | undefined {
  return ITEMS.find((item) => item.slug === slug)
}

export function priceText(cents: number): string {
  return `${(cents / 100).toFixed(2)} EUR`
}
