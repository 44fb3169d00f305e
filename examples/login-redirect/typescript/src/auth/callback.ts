/** The way back from the identity provider: check that we asked, redeem the code, let the visitor in. */
import type { Session } from '../sessions.ts'
import { page, redirect, type Request, type Response } from '../web.ts'
import type { Provider } from './provider.ts'

/** Complete signing in. A state we did not hand out, or a code that does not work, lets nobody in. */
export function finishSignIn(request: Request, session: Session, provider: Provider): Response {
  const expectedState = session['login_state']
  delete session['login_state']
  if (expectedState === undefined || request.query.get('state') !== expectedState) {
    return page('This sign-in has expired', ['Please start again.'], 400)
  }
  const name = provider.redeem(request.query.get('code') ?? '')
  if (name === undefined) return page('This sign-in did not work', ['Please start again.'], 403)
  session['user'] = name
  const landing = session['next_path'] ?? '/'
  return redirect(landing)
}
