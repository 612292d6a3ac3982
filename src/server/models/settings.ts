import { z } from 'zod'

/** The value of `CATALOGUE_URL` for a registry that is never refreshed. */
export const NO_CATALOGUE = 'none'

/** The environment variables of the model registry. */
export const modelsSettings = {
  /** An `http(s)` URL or a file in the form of models.dev's `api.json`; `none` leaves the registry as it is. */
  CATALOGUE_URL: z.string().min(1).default('https://models.dev/api.json'),
}
