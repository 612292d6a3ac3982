import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { findChromium, startChromium } from '../browser/support/chromium.ts'
import { startServer } from '../support/database-server.ts'
import { type Person, type World, newWorld, signIn } from '../support/world.ts'
import { messagesOf } from './session.ts'
import { type MadeUp, type Name, NOW, TEAM, people, sessions } from './team.ts'

// `npm run pictures`: takes the pictures of the README, of sessions that are made up.

const root = join(import.meta.dirname, '..', '..')
const FOLDER = join(root, 'src', 'server', 'web', 'pictures')

/** The parts of the pages in the pictures, in CSS pixels. A README shows them at about two thirds of their size. */
const WIDTH = 1200
const heights = { feed: 769, session: 1120 } as const
/** Enough for sharp text on screens with two pixels for each of CSS. */
const PIXELS = 1.75
/** Of WebP, where text is still clear and a picture has 80 to 130 kB; a PNG has 400. */
const QUALITY = 0.8

type Team = Readonly<Record<Name, Person>>

const newTeam = async ({ node }: World): Promise<Team> => {
  const signedIn = Object.entries(people).map(async ([slug, displayName]) => [
    slug,
    await signIn(node, undefined, { displayName, slug }),
  ])
  const team = Object.fromEntries(await Promise.all(signedIn)) as Team
  await team.mira.send('POST', '/v1/namespaces', TEAM)
  for (const one of [team.noor, team.teo, team.ines]) await team.mira.admit(TEAM.slug, one)
  for (const one of Object.values(team)) await one.send('POST', '/v1/session/switch', { slug: TEAM.slug })
  return team
}

/** Uploads a session with its sub-agents; gives the path of its page. */
const upload = async (team: Team, session: MadeUp, parentExternalId?: string): Promise<string> => {
  const { by, began, said, model, fields, subAgents = [] } = session
  const parent = parentExternalId === undefined ? {} : { parentExternalId, parentKind: 'call' }
  const { externalId } = await team[by].newTrace({ ...fields, ...parent }, messagesOf(said, began, model))
  for (const one of subAgents) await upload(team, one, externalId)
  return `/@${TEAM.slug}/${externalId}`
}

/** A picture as WebP, which a browser can write. */
const toWebP = (page: Page, png: Buffer) =>
  page.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png.toString('base64')}'
    await image.decode()
    const canvas = document.createElement('canvas')
    Object.assign(canvas, { width: image.width, height: image.height })
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', ${QUALITY}).split(',')[1]
  })()`)

type Picture = { readonly name: keyof typeof heights; readonly address: string; readonly token: string }

const take = async (browser: Browser, { name, address, token }: Picture, colorScheme: 'light' | 'dark') => {
  const context = await browser.newContext({
    viewport: { width: WIDTH, height: heights[name] },
    deviceScaleFactor: PIXELS,
    timezoneId: 'Europe/Oslo',
    colorScheme,
    reducedMotion: 'reduce',
  })
  await context.addCookies([{ name: 'tracebook', value: token, url: new URL(address).origin }])
  const page = await context.newPage()
  await page.clock.setFixedTime(NOW)
  await page.goto(address)
  await page.waitForSelector('html[data-ready]', { state: 'attached' })
  const webP = Buffer.from(await toWebP(await context.newPage(), await page.screenshot()), 'base64')
  const file = join(FOLDER, `${name}-${colorScheme}.webp`)
  await writeFile(file, webP)
  console.log(`${webP.length.toLocaleString('en').padStart(9)} bytes  ${file}`)
  await context.close()
}

const takeAll = async (world: World, browser: Browser) => {
  await mkdir(FOLDER, { recursive: true })
  const team = await newTeam(world)
  const paths: string[] = []
  for (const session of sessions.toReversed()) paths.unshift(await upload(team, session))
  const service = await world.node.app.listen({ host: '127.0.0.1', port: 0 })
  const { token } = team.mira
  for (const colorScheme of ['light', 'dark'] as const) {
    await take(browser, { name: 'feed', address: service, token }, colorScheme)
    await take(browser, { name: 'session', address: service + paths[1]!, token }, colorScheme)
  }
}

process.env.FONTCONFIG_FILE = join(import.meta.dirname, 'fonts.conf')
const chromium = findChromium()
if (chromium === undefined) throw new Error('no Chromium in PATH, and CHROMIUM names none')

const server = await startServer({ run: 'pictures', env: {}, signal: new AbortController().signal })
try {
  Object.assign(process.env, server.env)
  const catalogue = join(root, 'src', 'server', 'models', 'shipped-catalogue.json')
  const world = await newWorld({ now: () => NOW, env: { SUMMARY_PROVIDER: 'none', CATALOGUE_URL: catalogue } })
  const browser = await startChromium(chromium)
  await takeAll(world, browser).finally(async () => {
    await browser.close()
    await world.close()
  })
} finally {
  await server.stop()
}
