const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
type EndingSignal = keyof typeof EXIT_CODES

/** A signal has ended the command. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exitCode: number

  constructor(signal: EndingSignal) {
    super(signal === 'SIGINT' ? 'interrupted by Ctrl-C' : `ended by ${signal}`)
    this.exitCode = EXIT_CODES[signal]
  }
}

type Interruption = {
  /** Called at the first signal. */
  readonly onFirst: (reason: Interrupted) => void
  /** Called before the process exits: at a second signal, or if the work has not ended `graceMs` after the first one. */
  readonly onForced: (reason: Interrupted) => void
  readonly graceMs: number
}

/**
 * Runs `work`. Its signal is aborted at the first SIGINT or SIGTERM, with an `Interrupted` as the reason; it must end soon then.
 */
export const untilInterrupted = async <T>(
  { onFirst, onForced, graceMs }: Interruption,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController()
  let grace: NodeJS.Timeout | undefined
  const force = (reason: Interrupted) => {
    onForced(reason)
    process.exit(reason.exitCode)
  }
  const onSignal = (signal: EndingSignal) => {
    const reason = new Interrupted(signal)
    if (controller.signal.aborted) return force(reason)
    grace = setTimeout(force, graceMs, reason)
    onFirst(reason)
    controller.abort(reason)
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(grace)
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

/**
 * Runs `work`. Its signal is aborted at the first SIGINT or SIGTERM, with an `Interrupted` as the reason; a second one ends the
 * process at once.
 */
export const stoppable = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController()
  const onSignal = (signal: EndingSignal) => controller.abort(new Interrupted(signal))
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
