/** A set of the numbers that things get from 0 on, in one array: as a `Set` of as many numbers it would take six times as long to fill. */
export type NumberSet = {
  readonly add: (number: number) => void
  readonly size: () => number
}

const FIRST_LENGTH = 1_024

export const newNumberSet = (): NumberSet => {
  let [isIn, size] = [new Uint8Array(FIRST_LENGTH), 0]
  const add = (number: number) => {
    if (number >= isIn.length) {
      const longer = new Uint8Array(Math.max(2 * isIn.length, number + 1))
      longer.set(isIn)
      isIn = longer
    }
    size += 1 - isIn[number]!
    isIn[number] = 1
  }
  return { add, size: () => size }
}
