/**
 * An id as a segment of an address, which `ofSegment` reads again once it is decoded. Browsers take `.` and `..` for other places, however they are
 * encoded, so that these have a tilde before them; and so has every id that would be read as one of them.
 */
export const toSegment = (id: string): string =>
  encodeURIComponent((/^~*\.{1,2}$/.test(id) ? `~${id}` : id).toWellFormed())

/** The id in a decoded segment. */
export const ofSegment = (text: string): string => (/^~+\.{1,2}$/.test(text) ? text.slice(1) : text)
