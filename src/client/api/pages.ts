/** The pages of a list, each of which is asked for once the one before was used. `read` gets the cursor of a page; none for the first. */
export async function* pagesOf<Page extends { readonly nextCursor?: string | undefined }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page, void> {
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    yield page
    cursor = page.nextCursor
  } while (cursor !== undefined)
}
