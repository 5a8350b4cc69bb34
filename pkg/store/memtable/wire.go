package memtable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

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
	"BatchExecuteStatement": call((*Engine).BatchExecuteStatement),
	"BatchGetItem":          call((*Engine).BatchGetItem),
	"CreateTable":           call((*Engine).CreateTable),
	"DeleteItem":            call((*Engine).DeleteItem),
	"DeleteTable":           call((*Engine).DeleteTable),
	"DescribeTable":         call((*Engine).DescribeTable),
	"GetItem":               call((*Engine).GetItem),
	"PutItem":               call((*Engine).PutItem),
	"Query":                 call((*Engine).Query),
	"Scan":                  call((*Engine).Scan),
	"TransactWriteItems":    call((*Engine).TransactWriteItems),
	"UpdateItem":            call((*Engine).UpdateItem),
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
	if err != nil {
		var api smithy.APIError
		if !errors.As(err, &api) {
			return nil, err
		}
		status = http.StatusBadRequest
		refusal, _ := encode(reflect.ValueOf(api)).(map[string]any)
		delete(refusal, "ErrorCodeOverride")
		refusal["__type"] = "com.amazonaws.dynamodb.v20120810#" + api.ErrorCode()
		refusal["message"] = api.ErrorMessage()
		out = refusal
	} else {
		out = encode(reflect.ValueOf(out))
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, err
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
func decode(raw json.RawMessage, to reflect.Value) error {
	switch {
	case to.Type() == valueType:
		v, err := decodeValue(raw)
		if err == nil {
			to.Set(reflect.ValueOf(v))
		}
		return err
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return decode(raw, to.Elem())
	case to.Kind() == reflect.Struct:
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return err
		}
		for name, field := range fields {
			f := to.FieldByName(name)
			if !f.IsValid() {
				return fmt.Errorf("there is no field %s", name)
			}
			if err := decode(field, f); err != nil {
				return err
			}
		}
		return nil
	case to.Kind() == reflect.Slice && to.Type().Elem().Kind() != reflect.Uint8:
		var parts []json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
		to.Set(reflect.MakeSlice(to.Type(), len(parts), len(parts)))
		for i, part := range parts {
			if err := decode(part, to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case to.Kind() == reflect.Map:
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
		to.Set(reflect.MakeMapWithSize(to.Type(), len(parts)))
		for name, part := range parts {
			v := reflect.New(to.Type().Elem()).Elem()
			if err := decode(part, v); err != nil {
				return err
			}
			to.SetMapIndex(reflect.ValueOf(name), v)
		}
		return nil
	default:
		return json.Unmarshal(raw, to.Addr().Interface())
	}
}

func decodeValue(raw json.RawMessage) (types.AttributeValue, error) {
	var v struct {
		S, N *string
		B    []byte
		BOOL *bool
		NULL *bool
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	switch {
	case v.S != nil:
		return &types.AttributeValueMemberS{Value: *v.S}, nil
	case v.B != nil:
		return &types.AttributeValueMemberB{Value: v.B}, nil
	case v.N != nil:
		return &types.AttributeValueMemberN{Value: *v.N}, nil
	case v.BOOL != nil:
		return &types.AttributeValueMemberBOOL{Value: *v.BOOL}, nil
	case v.NULL != nil:
		return &types.AttributeValueMemberNULL{Value: *v.NULL}, nil
	default:
		return nil, fmt.Errorf("memtable: no attribute may be %s", raw)
	}
}

// encode turns a value of the SDK's types into one that encoding/json can write, without empty fields.
func encode(v reflect.Value) any {
	if v.IsValid() && v.CanInterface() {
		if a, ok := v.Interface().(types.AttributeValue); ok {
			return map[string]any{kind(a): reflect.ValueOf(a).Elem().FieldByName("Value").Interface()}
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return encode(v.Elem())
	case reflect.Struct:
		fields := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "ResultMetadata" && !v.Field(i).IsZero() {
				fields[f.Name] = encode(v.Field(i))
			}
		}
		return fields
	case reflect.Slice:
		parts := make([]any, v.Len())
		for i := range parts {
			parts[i] = encode(v.Index(i))
		}
		return parts
	case reflect.Map:
		parts := map[string]any{}
		for all := v.MapRange(); all.Next(); {
			parts[all.Key().String()] = encode(all.Value())
		}
		return parts
	default:
		return v.Interface()
	}
}

// EncodeItem returns an item as JSON, in the form of the protocol.
func EncodeItem(it map[string]types.AttributeValue) ([]byte, error) {
	return json.Marshal(encode(reflect.ValueOf(it)))
}

// DecodeItem is the reverse of EncodeItem.
func DecodeItem(data []byte) (it map[string]types.AttributeValue, err error) {
	err = decode(data, reflect.ValueOf(&it).Elem())
	return it, err
}
