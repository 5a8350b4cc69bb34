package store_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// generator makes calls as pkg/store makes them, and calls that differ from those by one
// or two faults. The same seed makes the same calls.
type generator struct {
	*rand.Rand
	table string
}

// call is a call of the table: its name, its input and how it is made.
type call struct {
	name string
	in   any
	do   func(context.Context, *dynamodb.Client) (any, error)
}

func oneOf[T any](g *generator, all ...T) T { return all[g.IntN(len(all))] }

// rarely reports true in one of sixty times.
func (g *generator) rarely() bool { return g.IntN(60) == 0 }

var (
	memtableLong = strings.Repeat("7", 39)
	keyMax       = strings.Repeat("k", 2049) // one byte more than a partition key may have
	skMax        = strings.Repeat("s", 1025)
)

// value makes the value of an attribute.
func (g *generator) value() types.AttributeValue {
	if g.rarely() {
		return oneOf[types.AttributeValue](g, num("x"), num(""), num(memtableLong),
			num("1e126"), num("1e-131"), num("0x1"),
			num("1_0"), num(" 1"), num("+1"), num("Inf"), num("1/2"), num(".5"), num("5."), num("-0"))
	}
	return oneOf[types.AttributeValue](g, str("a"), str("ab"), str("b"), str(""), num("1"), num("2"), num("-1"),
		num("1.50"), num("1e2"), num("12345678901234567890123456789012345678"),
		&types.AttributeValueMemberBOOL{Value: true}, &types.AttributeValueMemberBOOL{Value: false},
		&types.AttributeValueMemberNULL{Value: true},
		&types.AttributeValueMemberB{Value: []byte("a")}, &types.AttributeValueMemberB{Value: []byte("ab")})
}

// keyValue makes the value of an attribute that an index is keyed by.
func (g *generator) keyValue(good string) types.AttributeValue {
	if g.rarely() {
		return oneOf[types.AttributeValue](g, str(""), num("1"), str(keyMax), str(skMax),
			&types.AttributeValueMemberB{Value: []byte("a")}, &types.AttributeValueMemberNULL{Value: true})
	}
	return str(good)
}

// short returns another value for one that is too long for a key.
func short(v types.AttributeValue) types.AttributeValue {
	if len(text(v)) > 1000 {
		return str("1")
	}
	return v
}

// key makes a key of the table.
func (g *generator) key() item {
	k := item{"pk": g.keyValue(oneOf(g, "a", "b")), "sk": g.keyValue(oneOf(g, "1", "2", "3"))}
	if g.rarely() {
		switch g.IntN(4) {
		case 0:
			delete(k, "sk")
		case 1:
			k["x_a"] = str("a")
		case 2:
			clear(k)
		default:
			delete(k, "pk")
		}
	}
	return k
}

// item makes the item of a key, which some indexes list. No two items have the same key of
// an index: their order there is undefined.
func (g *generator) item(key item) item {
	it := maps.Clone(key)
	place := text(it["pk"]) + text(it["sk"])
	for _, index := range []string{"owner", "parent", "due"} {
		if g.IntN(3) > 0 {
			it[index+"_pk"], it[index+"_sk"] = g.keyValue(oneOf(g, "o", "p")), g.keyValue(place)
		}
		if g.rarely() {
			delete(it, index+"_sk")
		}
	}
	for _, name := range attributeNames {
		if g.IntN(2) > 0 {
			it[name] = g.value()
		}
	}
	if g.IntN(200) == 0 {
		it["doc"] = str(strings.Repeat("d", oneOf(g, 399<<10, 400<<10)))
	}
	return it
}

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

var attributeNames = []string{"x_a", "f_a", "n_a", "ver", "ttl"}

// words are the names and the values that an expression uses.
type words struct {
	g      *generator
	names  map[string]string
	values item
}

func (g *generator) words() *words { return &words{g: g, names: map[string]string{}, values: item{}} }

// name writes an attribute, by a placeholder or by itself.
func (w *words) name(name string) string {
	switch {
	case w.g.rarely() && name != "ttl": // a reserved word
		return name
	case w.g.IntN(100) == 0:
		return "#missing"
	}
	to := "#n" + fmt.Sprint(len(w.names))
	for known, is := range w.names {
		if is == name {
			to = known
		}
	}
	w.names[to] = name
	return to
}

// value writes a value.
func (w *words) value(v types.AttributeValue) string {
	if w.g.IntN(100) == 0 {
		return ":missing"
	}
	to := ":v" + fmt.Sprint(len(w.values))
	w.values[to] = v
	return to
}

// done returns the names and the values as a call has them; nil where there are none.
func (w *words) done() (map[string]string, item) {
	if w.g.IntN(60) == 0 {
		w.names["#unused"] = "x_a"
	}
	if w.g.IntN(60) == 0 {
		w.values[":unused"] = str("a")
	}
	names, values := w.names, w.values
	if len(values) == 0 && (len(names) == 0 || w.g.IntN(10) > 0) {
		values = nil
	}
	if len(names) == 0 {
		names = nil
	}
	return names, values
}

// attribute chooses an attribute.
func (g *generator) attribute() string {
	if g.IntN(12) == 0 {
		return oneOf(g, "pk", "sk", "owner_pk", "due_sk")
	}
	return oneOf(g, attributeNames...)
}

// condition writes a condition.
func (w *words) condition(depth int) string {
	g := w.g
	if depth > 0 && g.IntN(2) == 0 {
		left, right := w.condition(depth-1), w.condition(depth-1)
		switch g.IntN(4) {
		case 0:
			return "NOT (" + left + ")"
		case 1:
			return "(" + left + ") AND (" + right + ")"
		case 2:
			return left + " OR " + right
		default:
			return left + " AND " + right
		}
	}
	if g.IntN(150) == 0 {
		return oneOf(g, "", "(", "((x_a = x_a))", "x_a == x_a", "x_a", "nothing(x_a)", "x_a = ",
			"attribute_exists(:v0)", "x_a BETWEEN x_a", "x_a IN ()")
	}
	at := w.name(g.attribute())
	switch g.IntN(9) {
	case 0:
		return "attribute_exists(" + at + ")"
	case 1:
		return "attribute_not_exists(" + at + ")"
	case 2:
		return "begins_with(" + at + ", " + w.value(g.value()) + ")"
	case 3:
		return "contains(" + at + ", " + w.value(g.value()) + ")"
	case 4:
		return at + " BETWEEN " + w.value(g.value()) + " AND " + w.value(g.value())
	case 5:
		return at + " IN (" + w.value(g.value()) + ", " + w.value(g.value()) + ")"
	case 6:
		return "size(" + at + ") > " + w.value(g.value())
	default:
		right := w.value(g.value())
		if g.rarely() {
			right = w.name(g.attribute())
		}
		return at + oneOf(g, " = ", " <> ", " < ", " <= ", " > ", " >= ") + right
	}
}

// optional returns the text of a condition, or nil.
func (w *words) optional() *string {
	if w.g.IntN(3) == 0 {
		return nil
	}
	return aws.String(w.condition(2))
}

// change writes an update.
func (w *words) change() string {
	g := w.g
	var set, add, remove []string
	free := append([]string{}, attributeNames...)
	g.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	for i := range 1 + g.IntN(3) {
		name := free[i]
		at := w.name(name)
		if g.IntN(30) == 0 {
			// DynamoDB Local accepts a value of another type for an index's key.
			set = append(set, w.name(oneOf(g, "owner_sk", "due_sk"))+
				" = "+w.value(str(oneOf(g, fmt.Sprint("u", g.Uint32()), ""))))
			continue
		}
		switch g.IntN(6) {
		case 0:
			remove = append(remove, at)
		case 1, 2:
			add = append(add, at+" "+w.value(oneOf[types.AttributeValue](g, num("1"), num("-2"),
				num("0.5"), g.value())))
		case 3:
			set = append(set, at+" = if_not_exists("+at+", "+w.value(g.value())+")")
		case 4:
			set = append(set, at+" = if_not_exists("+at+", "+w.value(num("1"))+")"+oneOf(g, " + ", " - ")+
				w.value(oneOf[types.AttributeValue](g, num("1"), g.value())))
		default:
			set = append(set, at+" = "+oneOf(g, w.value(g.value()), w.value(g.value()), w.value(g.value()),
				w.name(g.attribute())))
		}
	}
	var all []string
	for i, part := range [][]string{set, add, remove} {
		if len(part) > 0 {
			all = append(all, []string{"SET ", "ADD ", "REMOVE "}[i]+strings.Join(part, ", "))
		}
	}
	if g.IntN(100) == 0 {
		all = append(all, oneOf(g, "SET", "DELETE x_a :v0", "SET x_a", "REMOVE", "x_a = :v0", ","))
	}
	return strings.Join(all, " ")
}
