package schema

import (
	"strings"

	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/content-automation/api/pkg/base/format"
	nearest "github.com/content-automation/api/pkg/base/text"
)

// Replace huma's texts about invalid values. It copies them into its schemas, so they must be set before any is made.
func init() {
	for text, ours := range map[*string]string{
		&validation.MsgExpectedBoolean:                "must be true or false",
		&validation.MsgExpectedNumber:                 "must be a number",
		&validation.MsgExpectedInteger:                "must be an integer",
		&validation.MsgExpectedString:                 "must be a string",
		&validation.MsgExpectedArray:                  "must be an array",
		&validation.MsgExpectedObject:                 "must be an object",
		&validation.MsgExpectedArrayItemsUnique:       "must not list a value twice",
		&validation.MsgExpectedOneOf:                  mustBeOneOf + "%s",
		&validation.MsgExpectedMinimumNumber:          "must be at least %.15g",
		&validation.MsgExpectedExclusiveMinimumNumber: "must be more than %.15g",
		&validation.MsgExpectedMaximumNumber:          "must be at most %.15g",
		&validation.MsgExpectedExclusiveMaximumNumber: "must be less than %.15g",
		&validation.MsgExpectedNumberBeMultipleOf:     "must be a multiple of %v",
		&validation.MsgExpectedMinLength:              tooShort + "the shortest length is %d",
		&validation.MsgExpectedMaxLength:              "is too long: the longest length is %d",
		&validation.MsgExpectedBePattern:              "must be %s",
		&validation.MsgExpectedMatchPattern:           mustMatch + "%s",
		&validation.MsgExpectedMinItems:               "has too few entries: the fewest are %d",
		&validation.MsgExpectedMaxItems:               "has too many entries: the most are %d",
		&validation.MsgExpectedMinProperties:          "has too few members: the fewest are %d",
		&validation.MsgExpectedMaxProperties:          "has too many members: the most are %d",
		&validation.MsgExpectedRFC3339DateTime:        MustBeTime,
		&validation.MsgExpectedRFC3339Date:            "must be a day, written as 2026-05-01",
		&validation.MsgExpectedPropertyNameInObject:   isRequired,
	} {
		*text = ours
	}
}

const (
	isRequired  = "is required"
	mustBe      = "must be "
	mustBeOneOf = mustBe + "one of "
	mustMatch   = "must match the pattern "
	tooShort    = "is too short: "
)

// The messages about numbers and times that package json refuses.
const (
	MustBeInteger = "must be an integer, written without fraction and exponent"
	MustBeTime    = "must be a time with its zone, written as 2026-05-01T12:00:00Z or 2026-05-01T14:00:00+02:00"
)

// Refine completes a message of huma's without repeating the value: by the type of a value of the wrong type, and by
// the value of an enumeration that is close.
func Refine(message string, sent any) string {
	switch message {
	case validation.MsgExpectedBoolean, validation.MsgExpectedNumber, validation.MsgExpectedInteger,
		validation.MsgExpectedString, validation.MsgExpectedArray, validation.MsgExpectedObject:
		kind := kindOf(sent)
		if kind == "a number" && message == validation.MsgExpectedInteger {
			return MustBeInteger
		}
		return message + ", not " + kind
	case mustMatch + format.OneLine:
		return "must not have control characters, such as line breaks"
	}
	if sent == "" && strings.HasPrefix(message, tooShort) {
		return "must not be empty"
	}
	if names, ok := strings.CutPrefix(message, mustBeOneOf); ok {
		value, _ := sent.(string) // of another type it is near to none
		return nearest.NotOneOf(value, strings.Split(names, ", "))
	}
	return message
}

// kindOf names the JSON type of a value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}

// listed bounds the names that a message lists.
const listed = 16

// Unknown returns the message about an unknown name. It suggests the nearest known one, and lists the known ones if
// they are few.
func Unknown(message, name, list string, known []string) string {
	hint := nearest.NearestHint(name, known)
	message += hint
	if len(known) > listed {
		if hint == "" {
			message += "; leave it out"
		}
		return message
	}
	if hint == "" {
		message += "."
	}
	if len(known) == 0 {
		return message + " " + list + "none"
	}
	return message + " " + list + strings.Join(known, ", ")
}
