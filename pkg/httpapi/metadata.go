package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/resource"
)

// describeMetadata describes the types of package resource, which does not know huma.
func describeMetadata(schemas huma.Registry) {
	schemas.RegisterTypeAlias(reflect.TypeFor[resource.Metadata](), reflect.TypeFor[metadata]())
	schemas.RegisterTypeAlias(reflect.TypeFor[resource.MetadataPatch](), reflect.TypeFor[metadataPatch]())
}

type metadata struct{}

// Schema describes metadata in the OpenAPI document.
func (metadata) Schema(huma.Registry) *huma.Schema { return pairsSchema(false) }

type metadataPatch struct{}

// Schema describes the patch in the OpenAPI document.
func (metadataPatch) Schema(huma.Registry) *huma.Schema { return pairsSchema(true) }

// pairsSchema describes string pairs. In a patch null removes one, or all.
func pairsSchema(patch bool) *huma.Schema {
	pair := &huma.Schema{Type: huma.TypeString, MaxLength: pointerTo(resource.MaxPairLength), Nullable: patch}
	pair.PrecomputeMessages() // huma does not prepare the messages of such schemas by itself
	return &huma.Schema{
		Type: huma.TypeObject, MaxProperties: pointerTo(resource.MaxPairs), AdditionalProperties: pair, Nullable: patch,
		Examples: []any{map[string]any{"campaign": "spring"}},
	}
}

// Enum describes a text that is one of the values.
func Enum[T ~string](values []T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}
