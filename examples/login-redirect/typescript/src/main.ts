/** Serve the shop on this machine, for trying it by hand. */
import { createServer } from 'node:http'
import { createShop } from './app.ts'
import { request } from './web.ts'

const MAX_FORM_BYTES = 16_384
const shop = createShop()

const server = createServer(async (incoming, outgoing) => {
  let form = ''
  for await (const chunk of incoming) form = `${form}${chunk}`.slice(0, MAX_FORM_BYTES)
  const response = shop.respond(
    request(incoming.method ?? 'GET', incoming.url ?? '/', form, incoming.headers.cookie ?? ''),
  )
  outgoing.statusCode = response.status
  outgoing.setHeader('Content-Type', 'text/html; charset=utf-8')
  for (const [name, value] of response.headers) outgoing.setHeader(name, value)
  outgoing.end(response.body)
})

server.listen(8000, '127.0.0.1', () => console.log('Serving on http://127.0.0.1:8000 (Ctrl-C stops)'))
