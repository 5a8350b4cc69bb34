package memtable

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type (
	value = types.AttributeValue
	item  = map[string]types.AttributeValue
)

// maxDigits is the precision of a number.
const maxDigits = 38

// maxScale is the largest number of digits after the decimal point.
const maxScale = 130 + maxDigits

// largest is the bound of the magnitude of numbers, and smallest their least magnitude.
var (
	largest  = power(126)
	smallest = new(big.Rat).Inv(power(130))
)

func power(of int64) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(of), nil))
}

// maxItem is the largest size of an item.
const maxItem = 400 << 10

// stored returns a value as the table stores it: numbers lose leading and trailing zeros.
func stored(v value) (value, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS, *types.AttributeValueMemberB, *types.AttributeValueMemberBOOL,
		*types.AttributeValueMemberNULL:
		return v, nil
	case *types.AttributeValueMemberN:
		n, err := numeral(v.Value)
		if err != nil || n == v.Value {
			return v, err
		}
		return &types.AttributeValueMemberN{Value: n}, nil
	default:
		return nil, invalid("memtable: no attribute may be a %T", v)
	}
}

// storedAll returns a copy of the attributes as the table stores them.
func storedAll(from item) (item, error) {
	to := make(item, len(from))
	for name, v := range from {
		kept, err := stored(v)
		if err != nil {
			return nil, err
		}
		to[name] = kept
	}
	return to, nil
}

// numeral writes a number in its shortest form.
func numeral(s string) (string, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || strings.ContainsAny(s, "/xXpP_") {
		return "", invalid("The parameter cannot be converted to a numeric value: %s", s)
	}
	if size := new(big.Rat).Abs(r); size.Cmp(largest) >= 0 || r.Sign() != 0 && size.Cmp(smallest) < 0 {
		return "", invalid("Number overflow or underflow. Attempting to store a number with magnitude outside the "+
			"supported range: %s", s)
	}
	text := r.FloatString(maxScale)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if strings.TrimLeft(text, "-0.") == "" {
		text = "0"
	}
	if exact, _ := new(big.Rat).SetString(text); exact.Cmp(r) != 0 || len(significant(text)) > maxDigits {
		return "", invalid("Attempting to store more than %d significant digits in a Number", maxDigits)
	}
	return text, nil
}

var signs = strings.NewReplacer("-", "", ".", "")

// significant returns the digits of a number without the zeros at its ends.
func significant(number string) string { return strings.Trim(signs.Replace(number), "0") }

// sum adds two numbers.
func sum(a, b string, sign int64) (string, error) {
	m, err := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.ParseInt(b, 10, 64)
	const half = 1 << 62
	if err == nil && err2 == nil && max(m, n) < half && min(m, n) > -half { // most are counters
		return strconv.FormatInt(m+sign*n, 10), nil
	}
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	if !ok || !ok2 {
		return "", invalid("The parameter cannot be converted to a numeric value: %s, %s", a, b)
	}
	return numeral(x.Add(x, y.Mul(y, big.NewRat(sign, 1))).FloatString(maxDigits))
}

// kind returns the type of a value as expressions name it.
func kind(v value) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	default:
		return fmt.Sprintf("%T", v)
	}
}

// compare orders two values; comparable reports whether they are of the same type.
func compare(a, b value) (order int, comparable bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		if !ok {
			return 0, false
		}
		return strings.Compare(a.Value, b.Value), true
	case *types.AttributeValueMemberB:
		b, ok := b.(*types.AttributeValueMemberB)
		if !ok {
			return 0, false
		}
		return bytes.Compare(a.Value, b.Value), true
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		if !ok {
			return 0, false
		}
		return compareNumbers(a.Value, b.Value), true
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		if !ok {
			return 0, false
		}
		if a.Value == b.Value {
			return 0, true
		}
		return 1, true // any order but equal will do
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return 0, ok
	default:
		return 0, false
	}
}

func compareNumbers(a, b string) int {
	x, err := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(x, y)
	}
	r, _ := new(big.Rat).SetString(a) // both are numbers: stored checked them
	s, _ := new(big.Rat).SetString(b)
	return r.Cmp(s)
}

// equal reports whether two values are the same.
func equal(a, b value) bool {
	order, comparable := compare(a, b)
	return comparable && order == 0
}

// size returns the size of an item by DynamoDB's rules: the names and the values.
func size(it item) int {
	n := 0
	for name, v := range it {
		n += len(name) + valueSize(v)
	}
	return n
}

func valueSize(v value) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	default:
		return 1
	}
}

func numberSize(number string) int { return 1 + (len(significant(number))+1)/2 }
