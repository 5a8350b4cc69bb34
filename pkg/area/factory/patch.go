package factory

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
	"github.com/content-automation/api/pkg/store"
)

// Into writes the changed factory into the item that it was read from.
func (f *Factory) Into(it store.Item) (store.Item, error) {
	it.Filters = f.filters()
	f.watch(&it)
	if err := f.encodeFiles(&it); err != nil {
		return it, err
	}
	return it, it.Encode(f)
}

// Change applies a merge patch by the schema and the rules of updateFactory, and reports whether it changes anything.
func (f *Factory) Change(patch map[string]any, now time.Time) (changed bool, err error) {
	if err := httpapi.CheckPatch(reflect.TypeFor[patchBody](), patch); err != nil {
		return false, err
	}
	before, err := f.Before(now)
	if err != nil {
		return false, err
	}
	set, err := httpapi.Merge(f.settings(), patch)
	if err != nil {
		return false, err
	}
	was, err := f.Settings.named()
	if err != nil {
		return false, err
	}
	if err := f.apply(set, now); err != nil {
		return false, err
	}
	named, err := f.Settings.named()
	if err != nil {
		return false, err
	}
	for _, m := range members {
		if named[m.name] != was[m.name] {
			return false, errs.Invalid(m.param(), "is set by PATCH /v1/factories/{factory_id} only")
		}
	}
	return before.Changes(f)
}

// Under returns a digest of the values that a merge patch would replace. Changes of other members leave it as it is.
func (f *Factory) Under(patch map[string]any) (string, error) {
	raw, err := json.Marshal(f.settings())
	if err != nil {
		return "", err
	}
	var set any
	if err := json.Unmarshal(raw, &set); err != nil {
		return "", err
	}
	if raw, err = json.Marshal(replaced(set, patch)); err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

// replaced returns the part of a document that a merge patch replaces.
func replaced(doc, patch any) any {
	members, ok := patch.(map[string]any)
	was, object := doc.(map[string]any)
	if !ok || !object {
		return doc
	}
	part := map[string]any{}
	for name, change := range members {
		part[name] = replaced(was[name], change)
	}
	return part
}

// PatchSchema returns the JSON Schema of a merge patch of some members of a factory, for
// those who write one without the document.
func PatchSchema(of Type, members ...string) (json.RawMessage, error) {
	schemas := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)
	body := schemas.Schema(reflect.TypeFor[patchBody](), false, "")
	schema.Expand(schemas, body)
	all := body.Properties
	maps.DeleteFunc(all, func(name string, _ *huma.Schema) bool { return !slices.Contains(members, name) })
	if all["settings"] != nil {
		settings := schemas.Schema(shapeOf(of), false, "")
		schema.Expand(schemas, settings)
		all["settings"] = patch(settings, schemas.SchemaFromRef)
	}
	httpapi.EmbeddedTexts().Registered(schemas, "#/")
	for name, s := range all {
		if s.Ref != "" {
			all[name] = schemas.SchemaFromRef(s.Ref)
		}
	}
	return json.Marshal(&huma.Schema{Type: huma.TypeObject, Properties: all, AdditionalProperties: false})
}
