const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
type EndingSignal = keyof typeof EXIT_CODES

/** The user, or the system, has ended the command by a signal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exitCode: number

  constructor(signal: EndingSignal) {
    super(signal === 'SIGINT' ? 'interrupted by Ctrl-C' : `ended by ${signal}`)
    this.exitCode = EXIT_CODES[signal]
  }
}

type Interruption = {
  /** The first signal has come. */
  readonly onFirst: (reason: Interrupted) => void
  /** The process ends now: after another signal, or because the work has not ended `graceMs` after the first one. */
  readonly onForced: (reason: Interrupted) => void
  readonly graceMs: number
}

/**
 * Runs `work`, whose signal is aborted at the first SIGINT or SIGTERM, with an `Interrupted` as reason: then it has to come to
 * its end soon.
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
 * Runs `work`, whose signal is aborted at the first SIGINT or SIGTERM, with an `Interrupted` as reason; another one ends the
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
