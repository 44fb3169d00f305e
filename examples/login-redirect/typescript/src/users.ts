/** Accounts: who may sign in, and how a password is checked. */
import { pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

export const ROUNDS = 200_000

/** One account. The password itself is never kept. */
export interface User {
  readonly name: string
  readonly email: string
  readonly salt: Buffer
  readonly passwordHash: Buffer
  newsletter: boolean
}

/** All accounts, by name. */
export class Users {
  readonly #rounds: number
  readonly #users = new Map<string, User>()

  constructor(rounds: number = ROUNDS) {
    this.#rounds = rounds
  }

  /** Open an account. Throws when the name is taken. */
  add(name: string, email: string, password: string): User {
    if (this.#users.has(name)) throw new Error(`the name ${name} is taken`)
    const salt = randomBytes(16)
    const user: User = { name, email, salt, passwordHash: this.#hash(password, salt), newsletter: false }
    this.#users.set(name, user)
    return user
  }

  get(name: string): User {
    const user = this.#users.get(name)
    if (!user) throw new Error(`no account ${name}`)
    return user
  }

  /** Whether this name and password belong together; unknown names take as long as known ones. */
  check(name: string, password: string): boolean {
    const user = this.#users.get(name)
    const candidate = this.#hash(password, user?.salt ?? Buffer.from('nobody'))
    return user !== undefined && timingSafeEqual(candidate, user.passwordHash)
  }

  #hash(password: string, salt: Buffer): Buffer {
    return pbkdf2Sync(password, salt, this.#rounds, 32, 'sha256')
  }
}
