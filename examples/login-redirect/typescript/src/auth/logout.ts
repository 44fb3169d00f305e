/** Signing out. */
import type { OpenSession, SessionStore } from '../sessions.ts'
import { redirect, type Response } from '../web.ts'

/** Close the session and show the home page; a guest may do this too. */
export function leave(session: OpenSession, sessions: SessionStore): Response {
  sessions.close(session)
  return redirect('/')
}
