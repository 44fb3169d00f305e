/** Which paths a visitor may be sent to after signing in. */

export const HOME = '/'

const CONTROL_OR_BACKSLASH = /[\u0000-\u001f\\]/

/**
 * The path if it lies within the shop, else the home page.
 *
 * Anything a browser could take for another host is refused: a scheme, two slashes at the start, backslashes, and
 * control characters (browsers drop some of them). So are the sign-in pages themselves, which would send people round
 * in a circle.
 */
export function localPath(asked: string | null): string {
  if (!asked?.startsWith('/') || asked.startsWith('//')) return HOME
  if (CONTROL_OR_BACKSLASH.test(asked)) return HOME
  if (asked.startsWith('/auth/') || asked.startsWith('/identity/')) return HOME
  return asked
}
