/** Writes the times of a part of the page in the zone and the manner of the reader. */
export const showLocalTimes = (part: ParentNode): void => {
  for (const time of part.querySelectorAll('time')) time.title = time.dateTime
}
