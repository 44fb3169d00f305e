/** A browser small enough to read: it keeps cookies and follows redirects. */
import { createShop, type Shop } from '../src/app.ts'
import { locationOf, request, splitOnce, type Response } from '../src/web.ts'

const MAX_REDIRECTS = 8

/** Visits one shop. `path`, `status` and `text` are those of the last page. */
export class Browser {
  readonly #shop: Shop
  readonly #cookies = new Map<string, string>()
  url = '/'
  status = 0
  text = ''
  visited: string[] = []

  constructor(shop: Shop = createShop(1)) {
    this.#shop = shop
  }

  get path(): string {
    return splitOnce(this.url, '?')[0]
  }

  get(url: string): void {
    this.#open('GET', url, {})
  }

  post(url: string, form: Record<string, string> = {}): void {
    this.#open('POST', url, form)
  }

  /** Fill in the form of the page we are on. */
  signIn(name = 'mina', password = 'green-tea-42'): void {
    if (this.path !== '/identity/authorize') throw new Error(`no sign-in form on ${this.path}`)
    this.post(this.url, { name, password })
  }

  #open(method: string, url: string, form: Record<string, string>): void {
    this.visited = []
    let location = this.#request(method, url, form)
    while (location !== undefined) {
      if (this.visited.length > MAX_REDIRECTS) throw new Error(`redirects go round: ${this.visited.join(' ')}`)
      location = this.#request('GET', location, {})
    }
  }

  #request(method: string, url: string, form: Record<string, string>): string | undefined {
    if (!url.startsWith('/') || url.startsWith('//')) throw new Error(`left the shop for ${url}`)
    const cookies = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = this.#shop.respond(request(method, url, new URLSearchParams(form).toString(), cookies))
    this.url = url
    this.status = response.status
    this.text = response.body
    this.visited.push(this.path)
    this.#keepCookies(response)
    return locationOf(response)
  }

  #keepCookies(response: Response): void {
    for (const [name, value] of response.headers) {
      if (name !== 'Set-Cookie') continue
      const [cookie, kept] = splitOnce(splitOnce(value, ';')[0], '=')
      this.#cookies.set(cookie, kept)
    }
  }
}
