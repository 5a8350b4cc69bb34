import type { IDataObject, IExecuteSingleFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

type Shape = (this: IExecuteSingleFunctions, options: IHttpRequestOptions) => Promise<IHttpRequestOptions>;
type Change = (value: unknown) => unknown;

/** Changes a value where the request has it. The property may be one of an object: settings.brand_name. */
function changed(place: 'body' | 'qs', property: string, change: Change): Shape {
  return async function (options) {
    const parts = place === 'qs' ? [property] : property.split('.');
    const last = parts.pop() as string;
    const parent = parts.reduce((at, part) => at?.[part] as IDataObject, options[place] as IDataObject);
    if (parent?.[last] === undefined || parent[last] === null) return options;
    try {
      parent[last] = change(parent[last]) as IDataObject;
    } catch (error) {
      throw new NodeOperationError(this.getNode(), `The field ${property} is malformed`, {
        description: (error as Error).message,
        itemIndex: this.getItemIndex(),
      });
    }
    return options;
  };
}

const texts = (value: unknown): unknown[] =>
  Array.isArray(value)
    ? value
    : String(value)
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean);

const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);

/** Takes a list, or a text with commas. */
export const list = (property: string) => changed('body', property, texts);

/** Takes a value, or a text of JSON. */
export const json = (property: string) => changed('body', property, parsed);

/** Takes several values of a parameter of the query. */
export const joined = (property: string) => changed('qs', property, (value) => texts(value).join(','));

/** Takes an object as parameters of the query, such as metadata[row]=1. */
export function pairs(property: string): Shape {
  const parse = changed('qs', property, parsed);
  return async function (options) {
    const { qs = {}, ...others } = await parse.call(this, options);
    const { [property]: of, ...rest } = qs;
    for (const [name, value] of Object.entries((of ?? {}) as IDataObject)) rest[`${property}[${name}]`] = value;
    return { ...others, qs: rest };
  };
}
