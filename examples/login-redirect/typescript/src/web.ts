/** Requests and responses: the little of HTTP that the shop needs. */

export interface Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly form: URLSearchParams
  readonly cookies: ReadonlyMap<string, string>
}

export interface Response {
  status: number
  body: string
  headers: [name: string, value: string][]
}

/** A request for an address such as `/basket?item=cup`. */
export function request(method: string, target: string, form = '', cookieHeader = ''): Request {
  const [path = '', query = ''] = splitOnce(target, '?')
  return {
    method,
    path: path || '/',
    query: new URLSearchParams(query),
    form: new URLSearchParams(form),
    cookies: readCookies(cookieHeader),
  }
}

/** The path with its query, as the visitor asked for it. */
export function targetOf(asked: Request): string {
  return asked.query.size > 0 ? `${asked.path}?${asked.query}` : asked.path
}

/** Send the browser elsewhere, always with GET. */
export function redirect(location: string): Response {
  return { status: 303, body: '', headers: [['Location', location]] }
}

/** Where a redirect leads, if it is one. */
export function locationOf(response: Response): string | undefined {
  return response.headers.find(([name]) => name === 'Location')?.[1]
}

/** A page with a heading and one paragraph a line. Lines are expected to be escaped already. */
export function page(title: string, lines: readonly string[] = [], status = 200): Response {
  const paragraphs = lines.map((line) => `<p>${line}</p>`).join('\n')
  return { status, body: `<!doctype html>\n<title>${title}</title>\n<h1>${title}</h1>\n${paragraphs}\n`, headers: [] }
}

export function setCookie(response: Response, name: string, value: string): void {
  response.headers.push(['Set-Cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Lax`])
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

export function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}

function readCookies(header: string): Map<string, string> {
  const pairs = header.split(';').map((part) => splitOnce(part.trim(), '='))
  return new Map(pairs.filter(([name]) => name !== ''))
}
