import * as z from "zod";

/** A property in JSON Schema, as {@link z.toJSONSchema} writes the types that tools use. */
const propertySchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  anyOf: z.array(z.looseObject({ type: z.string(), minLength: z.number().optional() })).optional(),
  items: z.looseObject({ type: z.string() }).optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
});
const objectSchema = z.looseObject({
  type: z.literal("object"),
  properties: z.record(z.string(), propertySchema),
  required: z.array(z.string()).optional(),
});

export type PropertySchema = z.output<typeof propertySchema>;
export type ObjectSchema = z.output<typeof objectSchema>;

/** Omits `$schema`, which every tool would repeat: MCP's default dialect has all keywords used here. */
export function jsonSchema(schema: z.ZodObject): ObjectSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input", override: dropSafetyBounds });
  return objectSchema.parse(rest);
}

/** The types that a property takes. */
export function typesOf({ type, anyOf }: PropertySchema): readonly string[] {
  return anyOf?.map((choice) => choice.type) ?? [type ?? []].flat();
}

/**
 * The schema as clients get it. Some hosts drop every tool of a server when one schema has a list of types, alternatives, or an exclusive
 * bound: so each property has one type, which is `string` if it takes others, too.
 */
export function plainSchema(schema: ObjectSchema): ObjectSchema {
  const properties = Object.entries(schema.properties).map(([key, property]) => [key, plainProperty(property)]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function plainProperty(property: PropertySchema): PropertySchema {
  const { type, anyOf, exclusiveMinimum, minimum = exclusiveMinimum, ...rest } = property;
  const [only = "string", ...others] = typesOf(property);
  const bound = minimum === undefined ? {} : { minimum };
  return { type: others.length === 0 ? only : "string", ...bound, ...rest };
}

/** Removes the bounds of JavaScript's exact integers, which zod adds to every integer. */
function dropSafetyBounds({ jsonSchema: schema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
