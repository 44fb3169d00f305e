/** The identity provider: checks the password and hands out codes that work once. */
import { randomBytes } from 'node:crypto'
import type { Users } from '../users.ts'
import { page, redirect, type Request, type Response } from '../web.ts'

const AUTHORIZE = '/identity/authorize'
const CALLBACK = '/auth/callback'

/** Turns a right password into a code, and a code into a name. */
export class Provider {
  readonly #users: Users
  readonly #codes = new Map<string, string>()

  constructor(users: Users) {
    this.#users = users
  }

  authorizeUrl(state: string): string {
    return `${AUTHORIZE}?${new URLSearchParams({ state })}`
  }

  /** The form for name and password; it posts to its own address, so the state travels along. */
  ask(): Response {
    return page('Sign in', ['Name and password, please.'])
  }

  /** Check name and password; send the browser back to the shop with a fresh code. */
  authorize(request: Request): Response {
    const name = request.form.get('name') ?? ''
    if (!this.#users.check(name, request.form.get('password') ?? '')) {
      return page('Sign in', ['That name and password do not match.'], 401)
    }
    const code = randomBytes(12).toString('base64url')
    this.#codes.set(code, name)
    return redirect(`${CALLBACK}?${new URLSearchParams({ code, state: request.query.get('state') ?? '' })}`)
  }

  /** The name a code stands for, once; nothing for a code that is unknown or used up. */
  redeem(code: string): string | undefined {
    const name = this.#codes.get(code)
    this.#codes.delete(code)
    return name
  }
}
