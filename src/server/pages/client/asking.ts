import { NoFragment } from './fragment.ts'

/** How long after the last key a text is asked for. */
const PAUSE_MS = 250
/** After this time a question is given up. */
const PATIENCE_MS = 10_000
/** For how long nothing is asked for while the service refuses, because too much was asked for. */
const REFUSED_MS = 60_000

type Question<Answer> = {
  /** The text that the reader has typed so far. */
  readonly text: () => string
  readonly ask: (text: string, signal: AbortSignal) => Promise<Answer>
  readonly show: (answer: Answer, text: string) => void
  readonly fail: (status: number) => void
}

/**
 * Asks for what a reader types, once they pause. Only one question is under way: what is typed meanwhile is asked for after its answer, so that answers
 * cannot come in another order, and a slow service has no more to do than it can. An answer to another text than the present one is not shown.
 */
export const newAsking = <Answer>({ text, ask, show, fail }: Question<Answer>) => {
  let answered = text()
  let pause: ReturnType<typeof setTimeout> | undefined
  let isDue = false
  let isAsking = false
  let refusedUntil = 0
  /** Counts how often it was stopped: an answer that comes later is not shown. */
  let stops = 0

  const next = async (): Promise<void> => {
    const [asked, stopsBefore] = [text(), stops]
    if (!isDue || isAsking || asked === answered || performance.now() < refusedUntil) return
    isDue = false
    isAsking = true
    try {
      const answer = await ask(asked, AbortSignal.timeout(PATIENCE_MS))
      if (asked === text() && stops === stopsBefore) {
        answered = asked
        show(answer, asked)
      }
    } catch (error) {
      const status = error instanceof NoFragment ? error.status : 0
      if (status === 429) refusedUntil = performance.now() + REFUSED_MS
      if (asked === text() && stops === stopsBefore) fail(status)
    }
    isAsking = false
    void next()
  }

  return {
    /** To be called after each change of the text. */
    typed: (): void => {
      clearTimeout(pause)
      isDue = false
      pause = setTimeout(() => {
        isDue = true
        void next()
      }, PAUSE_MS)
    },
    /** Asks for nothing any more, until something else is typed; then also for the text that was answered last. */
    stop: (): void => {
      clearTimeout(pause)
      isDue = false
      answered = ''
      stops += 1
    },
  }
}

/** Calls `typed` after each change of a field, but not while signs are being put together, as for Chinese, Japanese and Korean. */
export const onTyping = (field: HTMLInputElement, typed: () => void): void => {
  field.addEventListener('input', (event) => {
    if (!(event instanceof InputEvent) || !event.isComposing) typed()
  })
  field.addEventListener('compositionend', typed)
}
