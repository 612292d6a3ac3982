import { z } from 'zod'

/** Configuration of the model registry. */
export const modelsSettings = {
  /** An `http(s)` URL or a file in the form of models.dev's `api.json`; `none` leaves the registry as it is. */
  CATALOGUE_URL: z.string().min(1).default('https://models.dev/api.json'),
}
