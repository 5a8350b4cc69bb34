package memtable

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

var _ aws.HTTPClient = (*Engine)(nil)

// operation decodes a call, executes it, and returns its answer.
type operation func(*Engine, context.Context, []byte) (any, error)

func call[In, Out any](f func(*Engine, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)) operation {
	return func(e *Engine, ctx context.Context, body []byte) (any, error) {
		in := new(In)
		if err := decode(body, reflect.ValueOf(in).Elem()); err != nil {
			return nil, &smithy.GenericAPIError{Code: "SerializationException", Message: err.Error(),
				Fault: smithy.FaultClient}
		}
		return f(e, ctx, in)
	}
}

var operations = map[string]operation{
	"BatchGetItem":       call((*Engine).BatchGetItem),
	"CreateTable":        call((*Engine).CreateTable),
	"DeleteItem":         call((*Engine).DeleteItem),
	"DeleteTable":        call((*Engine).DeleteTable),
	"DescribeTable":      call((*Engine).DescribeTable),
	"GetItem":            call((*Engine).GetItem),
	"PutItem":            call((*Engine).PutItem),
	"Query":              call((*Engine).Query),
	"Scan":               call((*Engine).Scan),
	"TransactWriteItems": call((*Engine).TransactWriteItems),
	"UpdateItem":         call((*Engine).UpdateItem),
}

// Do answers a call of the SDK, in the JSON 1.0 protocol.
func (e *Engine) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	_, name, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	var out any
	if op := operations[name]; op != nil {
		out, err = op(e, req.Context(), body)
	} else {
		err = &smithy.GenericAPIError{Code: "UnknownOperationException",
			Message: "memtable: there is no operation " + name}
	}
	var b []byte
	if err != nil {
		var api smithy.APIError
		if !errors.As(err, &api) {
			return nil, err
		}
		status = http.StatusBadRequest
		b = appendRefusal(b, api)
	} else {
		b = appendValue(b, reflect.ValueOf(out))
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{
			"Content-Type": {"application/x-amz-json-1.0"},
			// The SDK takes an answer without its checksum for a broken one.
			"X-Amz-Crc32": {strconv.FormatUint(uint64(crc32.ChecksumIEEE(b)), 10)},
		},
		Body: io.NopCloser(bytes.NewReader(b)), ContentLength: int64(len(b)),
	}, nil
}

var valueType = reflect.TypeFor[types.AttributeValue]()

// decode reads JSON into a value of the SDK's types, whose fields have the names of the protocol.
func decode(raw []byte, to reflect.Value) error {
	var from any
	if err := json.Unmarshal(raw, &from); err != nil {
		return err
	}
	return assign(from, to)
}

// assign stores a value that encoding/json has read into a value of the SDK's types. It returns an error if the types
// do not fit.
func assign(from any, to reflect.Value) error {
	kind := to.Kind()
	switch {
	case to.Type() == valueType:
		v, err := attribute(from)
		if err == nil {
			to.Set(reflect.ValueOf(v))
		}
		return err
	case from == nil:
		return nil
	case kind == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return assign(from, to.Elem())
	}
	switch from := from.(type) {
	case map[string]any:
		switch kind {
		case reflect.Struct:
			return assignFields(from, to)
		case reflect.Map:
			return assignEntries(from, to)
		}
	case []any:
		if kind == reflect.Slice {
			return assignElements(from, to)
		}
	case string:
		if kind == reflect.String {
			to.SetString(from)
			return nil
		}
	case bool:
		if kind == reflect.Bool {
			to.SetBool(from)
			return nil
		}
	case float64: // the integers of the protocol are small, and the numbers of attributes are strings
		if n := int64(from); float64(n) == from && to.CanInt() && !to.OverflowInt(n) {
			to.SetInt(n)
			return nil
		}
	}
	return fmt.Errorf("%v is no %s", from, to.Type())
}

func assignFields(from map[string]any, to reflect.Value) error {
	for name, field := range from {
		f := to.FieldByName(name)
		if !f.IsValid() {
			return fmt.Errorf("there is no field %s", name)
		}
		if err := assign(field, f); err != nil {
			return err
		}
	}
	return nil
}

func assignEntries(from map[string]any, to reflect.Value) error {
	to.Set(reflect.MakeMapWithSize(to.Type(), len(from)))
	for name, part := range from {
		v := reflect.New(to.Type().Elem()).Elem()
		if err := assign(part, v); err != nil {
			return err
		}
		to.SetMapIndex(reflect.ValueOf(name), v)
	}
	return nil
}

func assignElements(from []any, to reflect.Value) error {
	to.Set(reflect.MakeSlice(to.Type(), len(from), len(from)))
	for i, part := range from {
		if err := assign(part, to.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func attribute(from any) (types.AttributeValue, error) {
	parts, _ := from.(map[string]any)
	for kind, part := range parts {
		if len(parts) > 1 {
			break
		}
		switch part := part.(type) {
		case string:
			switch kind {
			case "S":
				return &types.AttributeValueMemberS{Value: part}, nil
			case "N":
				return &types.AttributeValueMemberN{Value: part}, nil
			case "B":
				b, err := base64.StdEncoding.DecodeString(part)
				return &types.AttributeValueMemberB{Value: b}, err
			}
		case bool:
			switch kind {
			case "BOOL":
				return &types.AttributeValueMemberBOOL{Value: part}, nil
			case "NULL":
				return &types.AttributeValueMemberNULL{Value: part}, nil
			}
		}
	}
	return nil, fmt.Errorf("memtable: no attribute may be %v", from)
}

// appendRefusal appends an error of the SDK as the body of an answer.
func appendRefusal(out []byte, err smithy.APIError) []byte {
	out = append(out, `{"__type":`...)
	out = appendText(out, "com.amazonaws.dynamodb.v20120810#"+err.ErrorCode())
	out = append(out, `,"message":`...)
	out = appendText(out, err.ErrorMessage())
	return append(appendFields(out, reflect.ValueOf(err).Elem()), '}')
}

// appendValue appends a value of the SDK's types as JSON, without empty fields. The names of a map are in their order.
func appendValue(out []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer:
		return appendValue(out, v.Elem())
	case reflect.Interface:
		if a, ok := v.Interface().(types.AttributeValue); ok {
			return appendAttribute(out, a)
		}
		return appendValue(out, v.Elem())
	case reflect.Struct:
		begin := len(out)
		out = append(appendFields(out, v), '}')
		if out[begin] == ',' {
			out[begin] = '{'
			return out
		}
		return append(out[:begin], "{}"...)
	case reflect.Slice:
		out = append(out, '[')
		for i := range v.Len() {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(out, v.Index(i))
		}
		return append(out, ']')
	case reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		out = append(out, '{')
		for i, name := range names {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, name.String()), ':')
			out = appendValue(out, v.MapIndex(name))
		}
		return append(out, '}')
	case reflect.String:
		return appendText(out, v.String())
	case reflect.Bool:
		return strconv.AppendBool(out, v.Bool())
	case reflect.Float64:
		return strconv.AppendFloat(out, v.Float(), 'g', -1, 64)
	default:
		return strconv.AppendInt(out, v.Int(), 10)
	}
}

// appendFields appends the fields of a structure that are not empty, each with a comma before it.
func appendFields(out []byte, v reflect.Value) []byte {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" || f.Name == "ErrorCodeOverride" || v.Field(i).IsZero() {
			continue
		}
		out = append(appendText(append(out, ','), f.Name), ':')
		out = appendValue(out, v.Field(i))
	}
	return out
}

func appendAttribute(out []byte, a types.AttributeValue) []byte {
	out = append(appendText(append(out, '{'), kind(a)), ':')
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		out = appendText(out, a.Value)
	case *types.AttributeValueMemberN:
		out = appendText(out, a.Value)
	case *types.AttributeValueMemberB:
		out = append(base64.StdEncoding.AppendEncode(append(out, '"'), a.Value), '"')
	case *types.AttributeValueMemberBOOL:
		out = strconv.AppendBool(out, a.Value)
	case *types.AttributeValueMemberNULL:
		out = strconv.AppendBool(out, a.Value)
	}
	return append(out, '}')
}

func appendText(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			b, _ := json.Marshal(s) // a string has a form in JSON
			return append(out, b...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}
