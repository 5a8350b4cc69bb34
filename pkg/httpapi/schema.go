package httpapi

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// Enum describes a text with the given values.
func Enum[T ~string](values []T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// CheckMember checks a parsed member of a body whose type depends on the resource, so that the schema of the body is
// less strict than that of the type.
func CheckMember(t reflect.Type, name string, value any) error { return schema.Check(t, name, value) }

// CheckPatch checks a parsed merge patch against the schema of a body.
func CheckPatch(t reflect.Type, patch any) error { return schema.CheckPatch(t, patch) }

// CheckSandbox refuses the member sandbox of a body that a live key has sent.
func CheckSandbox(sent bool, mode tenant.Mode) error {
	if sent && mode != tenant.Test {
		return errs.Invalid("/sandbox", "works with test keys only; leave it out with a live key")
	}
	return nil
}

// Member checks a parsed member of a body against the schema of T, and decodes it.
func Member[T any](name string, value any) (v T, err error) {
	if err := CheckMember(reflect.TypeFor[T](), name, value); err != nil {
		return v, err
	}
	b, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	return v, err
}
