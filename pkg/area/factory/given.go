package factory

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// CreateShape returns the JSON Schema of the body of createFactory. SettingsShapes has the settings by type.
func CreateShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[createBody](), "metadata")
}

// everyType is the name of the settings that all types have, in SettingsShapes.
const everyType Type = "every_type"

// SettingsShapes returns the JSON Schemas of the settings by the types of factories. Those that every type has are
// there once, as every_type: readers pay for each repetition.
func SettingsShapes() (map[Type]json.RawMessage, error) {
	var shared []string
	of := reflect.TypeFor[Branding]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		shared = append(shared, name)
	}
	all := map[Type]json.RawMessage{}
	var err error
	if all[everyType], err = httpapi.Shape(of); err != nil {
		return nil, err
	}
	for _, t := range typeSettings {
		if all[t.Type], err = httpapi.Shape(t.Shape, shared...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ChangeShape returns the JSON Schema of the body of updateFactory.
func ChangeShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[patchBody](), "metadata")
}

// ChangeFrom is updateFactory with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) ChangeFrom(ctx context.Context, tx *store.Tx, factoryID string, body any) (out Factory, err error) {
	f, it, err := s.Find(ctx, factoryID)
	if err != nil {
		return out, err
	}
	if err := httpapi.CheckPatch(reflect.TypeFor[patchBody](), body); err != nil {
		return out, errs.Below("/body", err)
	}
	set, err := httpapi.Merge(f.settings(), body)
	if err != nil {
		return out, errs.Below("/body", err)
	}
	out, err = s.change(ctx, tx, it, f, set)
	return out, errs.Below("/body", err)
}

// Check checks a body of createFactory, a parsed JSON value, as the operation does. Places
// in errors begin with the member body.
func (s *Service) Check(ctx context.Context, body any) error {
	_, err := s.CreateFrom(ctx, &store.Tx{}, body)
	return err
}

// CreateFrom is createFactory with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) CreateFrom(ctx context.Context, tx *store.Tx, body any) (Factory, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return Factory{}, err
	}
	f, err := s.make(ctx, tx, b)
	return f, errs.Below("/body", err)
}
