/** Which session keys the two ends of signing in use, found out by running each end on its own. */
import type { Shop } from '../src/app.ts'
import { finishSignIn } from '../src/auth/callback.ts'
import { startSignIn } from '../src/auth/login.ts'
import type { Session } from '../src/sessions.ts'
import { locationOf, request, splitOnce } from '../src/web.ts'

/** The session key under which the sign-in entry keeps the path that was asked for. */
export function keyWrittenByEntry(shop: Shop, path: string): string | undefined {
  const written: Session = {}
  startSignIn(request('GET', `/auth/login?page=${path}`), written, shop.provider)
  return Object.keys(written).find((key) => written[key] === path)
}

/** The session key whose value the callback sends people to: every key nobody set holds a path of its own, `/KEY`. */
export function keyReadByCallback(shop: Shop): string | undefined {
  const session = new Proxy<Session>({ login_state: 'state-1' }, {
    get: (values, key) => Reflect.get(values, key) ?? `/${String(key)}`,
  })
  const form = 'name=mina&password=green-tea-42'
  const granted = shop.provider.authorize(request('POST', '/identity/authorize?state=state-1', form))
  const back = `/auth/callback?${splitOnce(locationOf(granted) ?? '', '?')[1]}`
  return locationOf(finishSignIn(request('GET', back), session, shop.provider))?.slice(1)
}
