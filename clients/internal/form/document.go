package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// properties are the members of an object, in the order of the document.
type properties struct {
	names []string
	of    map[string]*schema
}

// UnmarshalJSON keeps the order of the members.
func (p *properties) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &p.of); err != nil || len(p.of) == 0 {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	for depth, key := 0, false; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1
		default:
			if name, ok := v.(string); ok && depth == 1 && key {
				p.names = append(p.names, name)
			}
			key = depth == 1 && !key
		}
	}
}

// schema is a schema of the document.
type schema struct {
	Ref                  string     `json:"$ref"`
	Type                 any        `json:"type"`
	Format               string     `json:"format"`
	Description          string     `json:"description"`
	Properties           properties `json:"properties"`
	Required             []string   `json:"required"`
	Items                *schema    `json:"items"`
	AdditionalProperties any        `json:"additionalProperties"`
	Enum                 []any      `json:"enum"`
	Extensible           []string   `json:"x-extensible-enum"`
	AllOf                []*schema  `json:"allOf"`
	AnyOf                []*schema  `json:"anyOf"`
	OneOf                []*schema  `json:"oneOf"`
	Examples             []any      `json:"examples"`
	Discriminator        *struct {
		PropertyName string            `json:"propertyName"`
		Mapping      map[string]string `json:"mapping"`
	} `json:"discriminator"`
}

type content map[string]struct {
	Schema   *schema                    `json:"schema"`
	Example  json.RawMessage            `json:"example"`
	Examples map[string]json.RawMessage `json:"examples"`
}

type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Schema                *schema
	Example               any
}

type operation struct {
	OperationID string       `json:"operationId"`
	Summary     string       `json:"summary"`
	Description string       `json:"description"`
	Tags        []string     `json:"tags"`
	Resource    string       `json:"x-sdk-resource"`
	Method      string       `json:"x-sdk-method"`
	Pagination  any          `json:"x-sdk-pagination"`
	Wait        *Wait        `json:"x-sdk-wait"`
	Scopes      []string     `json:"x-required-scopes"`
	Opens       []string     `json:"x-opens"`
	Parameters  []*parameter `json:"parameters"`
	RequestBody *struct {
		Required bool    `json:"required"`
		Content  content `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content content `json:"content"`
	} `json:"responses"`
}

type document struct {
	Info struct{ Version string }
	Tags []struct{ Name, Description string }
	// Paths have other members than operations nowhere.
	Paths      map[string]map[string]operation
	Components struct {
		Schemas    map[string]*schema
		Parameters map[string]*parameter
	}
}
