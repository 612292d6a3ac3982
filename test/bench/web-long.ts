import { type Named, type Setting, atMost, mean, percentile } from './measure.ts'
import { type Visited, withBrowser } from './web-browser.ts'
import { publicTrace } from './web-trace.ts'

const COUNT = 10_000
const LOOK_MS = 250

/** For pages: scrolls on by 400 px a frame, then jumps, and tells how long frames took, and how long there was nothing to read. */
const scrollThrough = (ms: number) => `(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  const { left, width } = document.getElementById('messages').getBoundingClientRect()
  const isBlank = () =>
    [0.25, 0.5, 0.75].every((at) => !document.elementFromPoint(left + width / 2, at * innerHeight)?.closest('.item'))
  const seen = { frames: [], blank: 0, blankAfterJump: 0, nodes: 0, rows: 0, scrolled: 0 }
  const count = () => {
    seen.nodes = Math.max(seen.nodes, document.querySelectorAll('*').length)
    seen.rows = Math.max(seen.rows, document.querySelectorAll('#messages *').length)
  }
  await frame()
  let [last, blankSince] = [await frame(), undefined]
  for (const end = last + ${ms}; last < end;) {
    scrollBy(0, 120) // a fast turn of the wheel: 7,200 px a second
    blankSince = isBlank() ? (blankSince ?? last) : undefined
    const now = await frame()
    if (blankSince !== undefined) seen.blank = Math.max(seen.blank, now - blankSince)
    seen.frames.push(now - last)
    last = now
    if (seen.frames.length % 20 === 0) count()
  }
  seen.scrolled = scrollY
  for (const share of [0.9, 0.3, 0.7, 0.5]) {
    scrollTo(0, share * document.documentElement.scrollHeight)
    const jumped = await frame()
    let now = jumped
    for (let quiet = 0; quiet < 10; now = await frame()) {
      quiet = isBlank() ? 0 : quiet + 1
      if (quiet === 0) seen.blankAfterJump = Math.max(seen.blankAfterJump, now - jumped)
    }
    count()
  }
  return seen
})()`

type Scrolled = {
  readonly frames: readonly number[]
  readonly blank: number
  readonly blankAfterJump: number
  readonly nodes: number
  readonly rows: number
  readonly scrolled: number
}

/** The most memory that scripts of a page hold, in megabytes, while it does something. */
const heapDuring = async ({ devTools }: Visited, work: Promise<unknown>): Promise<number> => {
  let most = 0
  const look = async () => {
    const { metrics } = await devTools.send('Performance.getMetrics')
    most = Math.max(most, metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value / 1_000_000)
  }
  await devTools.send('Performance.enable')
  const looking = setInterval(() => void look(), LOOK_MS)
  await work.finally(() => clearInterval(looking))
  await look()
  return most
}

/** Scrolling through a trace of 10,000 messages. */
export const webScroll = async ({ world, ms }: Setting): Promise<readonly Named[]> => {
  const { path } = await publicTrace(world, COUNT)
  return withBrowser('web-scroll', (visit) =>
    visit(world.url + path, async (visited) => {
      const scrolling = visited.page.evaluate<Scrolled>(scrollThrough(2 * ms))
      const heap = await heapDuring(visited, scrolling)
      const { frames, blank, blankAfterJump, nodes, rows } = await scrolling
      return [
        atMost('web-scroll frame p95', 'ms', percentile(frames, 0.95), 22),
        atMost('web-scroll blank', 'ms', blank, 100),
        atMost('web-scroll blank, jump', 'ms', blankAfterJump, 100),
        atMost('web-scroll elements', '', nodes, 1_500),
        { name: 'web-scroll of messages', unit: '', value: rows, yardstick: nodes },
        atMost('web-scroll heap', 'MB', heap, 100),
      ]
    }),
  )
}

/** A prompt, a call, and what an agent said at the end. */
const LINKED = [5_000, 5_001, 5_019]

/** For pages, before they are: watches when a message comes into view, and by how much it moves in 2 s. */
const watchMessage = (id: string) => `(() => {
  let [visible, from, moved] = [undefined, 0, 0]
  window.watched = new Promise((done) => {
    const look = () => {
      const now = performance.now()
      const { top } = document.querySelector('#messages [data-id="${id}"]')?.getBoundingClientRect() ?? {}
      if (visible === undefined) {
        if (top >= 0 && top < innerHeight) [visible, from] = [now, top]
      } else moved = Math.max(moved, top === undefined ? Infinity : Math.abs(top - from))
      if (now > visible + 2_000) done({ visible, moved })
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
})()`

type Watched = { readonly visible: number; readonly moved: number }

/** Links to messages in the middle of 10,000: how soon they are seen, and whether they stay there. */
export const webDeepLink = async ({ world }: Setting): Promise<readonly Named[]> => {
  const { path } = await publicTrace(world, COUNT)
  return withBrowser('web-deep-link', async (visit): Promise<Named[]> => {
    const follow = async (place: number) => {
      const id = `message-${place}`
      const look = ({ page }: Visited) => page.evaluate<Watched>('watched')
      return visit(`${world.url}${path}?m=${id}`, look, ({ page }) => page.addInitScript(watchMessage(id)))
    }
    const all: Watched[] = []
    for (const place of LINKED) all.push(await follow(place))
    return [
      atMost('web-deep-link visible', 'ms', mean(all.map(({ visible }) => visible)), 1_000),
      atMost('web-deep-link moved', 'px', Math.max(...all.map(({ moved }) => moved)), 4),
    ]
  })
}
