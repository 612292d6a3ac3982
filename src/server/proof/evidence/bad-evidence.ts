/** The steps of the check, as the README of the audit commands numbers them; before them, whether the file has the format at all. */
export type Step = 'format' | 1 | 2 | 3 | 4 | 5 | 6 | 7

/** A file that proves nothing, because a step of the check fails. `message` says all. */
export class BadEvidence extends Error {
  override readonly name = 'BadEvidence'
  readonly step: Step
  /** What the step fails at, such as `event 3` (counted from 0) or a line of a file in a commit; undefined for the file as a whole. */
  readonly place: string | undefined

  constructor(step: Step, place: string | undefined, reason: string) {
    const where = step === 'format' ? 'it is not an evidence file' : `step ${step} fails`
    super(`${where}${place === undefined ? '' : `, ${place}`}: ${reason}`)
    this.step = step
    this.place = place
  }
}
