import { comparable, folded } from '../../../base/folded.ts'
import { newNormalText } from '../../../base/normal-form.ts'

/** The most occurrences of a text that are looked for in another. */
const MOST_PLACES = 1_000

/** Where a text occurs in another, as UTF-16 offsets, in any case and form of Unicode: the service counts by the same comparison. */
export const placesIn = (text: string, wanted: string): (readonly [start: number, end: number])[] => {
  const sought = comparable(wanted)
  if (sought === '') return []
  const { normal, placeOf } = newNormalText(text)
  const whole = folded(normal)
  const places: (readonly [number, number])[] = []
  for (
    let at = whole.indexOf(sought);
    at >= 0 && places.length < MOST_PLACES;
    at = whole.indexOf(sought, at + sought.length)
  )
    places.push(placeOf([at, at + sought.length]))
  return places
}
