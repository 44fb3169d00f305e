/** The application: which path leads where. */
import { finishSignIn } from './auth/callback.ts'
import { startSignIn } from './auth/login.ts'
import { leave } from './auth/logout.ts'
import { Provider } from './auth/provider.ts'
import { changeSettings, home, pickItem, profile, settings, showBasket, type Page } from './pages.ts'
import { COOKIE, SessionStore, type OpenSession } from './sessions.ts'
import { ROUNDS, Users } from './users.ts'
import { page, setCookie, type Request, type Response } from './web.ts'

type Route = (request: Request, session: OpenSession) => Response

export class Shop {
  readonly users: Users
  readonly provider: Provider
  readonly sessions = new SessionStore()
  readonly #routes: ReadonlyMap<string, Route>

  constructor(users: Users) {
    this.users = users
    this.provider = new Provider(users)
    const show = (shown: Page): Route => (request, session) => shown(request, session.values, this.users)
    this.#routes = new Map<string, Route>([
      ['GET /', show(home)],
      ['GET /basket', show(showBasket)],
      ['POST /basket', show(pickItem)],
      ['GET /profile', show(profile)],
      ['GET /settings', show(settings)],
      ['POST /settings', show(changeSettings)],
      ['GET /auth/login', (request, session) => startSignIn(request, session.values, this.provider)],
      ['GET /auth/callback', (request, session) => finishSignIn(request, session.values, this.provider)],
      ['POST /auth/logout', (_request, session) => leave(session, this.sessions)],
      ['GET /identity/authorize', () => this.provider.ask()],
      ['POST /identity/authorize', (request) => this.provider.authorize(request)],
    ])
  }

  /** Answer one request in the visitor's session. */
  respond(request: Request): Response {
    const cookie = request.cookies.get(COOKIE)
    const session = this.sessions.open(cookie)
    const route = this.#routes.get(`${request.method} ${request.path}`)
    const response = route ? route(request, session) : page('Not found', [], 404)
    if (session.id !== cookie) setCookie(response, COOKIE, session.id)
    return response
  }
}

/** A shop with one account to try; `rounds` is the cost of a password check. */
export function createShop(rounds: number = ROUNDS): Shop {
  const users = new Users(rounds)
  users.add('mina', 'mina@shop.example', 'green-tea-42')
  return new Shop(users)
}
