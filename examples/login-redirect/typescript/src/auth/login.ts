/** The entry to signing in: note where the visitor was going, then send them to the identity provider. */
import { randomBytes } from 'node:crypto'
import type { Session } from '../sessions.ts'
import { redirect, type Request, type Response } from '../web.ts'
import { localPath } from './paths.ts'
import type { Provider } from './provider.ts'

/** Begin signing in. Somebody who is signed in already goes straight to the page. */
export function startSignIn(request: Request, session: Session, provider: Provider): Response {
  const validatedPath = localPath(request.query.get('page'))
  if (session['user'] !== undefined) return redirect(validatedPath)
  const state = randomBytes(12).toString('base64url')
  session['return_to'] = validatedPath
  session['login_state'] = state
  return redirect(provider.authorizeUrl(state))
}
