/** Sessions: what the shop remembers about one visitor between two requests. */
import { randomBytes } from 'node:crypto'

export const COOKIE = 'shop_session'

/** Values kept for one visitor. */
export type Session = Record<string, string>

export interface OpenSession {
  readonly id: string
  readonly values: Session
}

/** All open sessions, in memory. */
export class SessionStore {
  readonly #sessions = new Map<string, OpenSession>()

  /** The visitor's session; an unknown id is never adopted, it gets a fresh session instead. */
  open(id: string | undefined): OpenSession {
    const known = this.#sessions.get(id ?? '')
    if (known) return known
    const opened: OpenSession = { id: randomBytes(18).toString('base64url'), values: Object.create(null) }
    this.#sessions.set(opened.id, opened)
    return opened
  }

  /** Forget a session and everything in it. */
  close(session: OpenSession): void {
    this.#sessions.delete(session.id)
  }

  get size(): number {
    return this.#sessions.size
  }
}
