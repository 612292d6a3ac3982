/**
 * An id as a segment of an address; `ofSegment` gives the id of the decoded segment. Browsers take the segments `.` and `..` for
 * other folders, even encoded, so these ids get a tilde before them. So does every id of tildes and dots that would be read as such a one.
 */
export const toSegment = (id: string): string =>
  encodeURIComponent((/^~*\.{1,2}$/.test(id) ? `~${id}` : id).toWellFormed())

/** The id in a decoded segment. */
export const ofSegment = (text: string): string => (/^~+\.{1,2}$/.test(text) ? text.slice(1) : text)
