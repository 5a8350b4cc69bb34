package memtable

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// scope is the input of an evaluation: an item, names and values.
type scope struct {
	item   item // nil if there is none
	names  map[string]string
	values item
}

// newScope checks the values of a call, and that its expressions use the placeholders that it defines.
func newScope(names map[string]string, values item, all ...*expression) (scope, error) {
	if err := checkRefs(names, values, all...); err != nil {
		return scope{}, err
	}
	if names != nil && len(names) == 0 {
		return scope{}, invalid("ExpressionAttributeNames must not be empty")
	}
	if values != nil && len(values) == 0 {
		return scope{}, invalid("ExpressionAttributeValues must not be empty")
	}
	kept, err := storedAll(values)
	if err != nil {
		return scope{}, err
	}
	s := scope{names: names, values: kept}
	for _, x := range all {
		if x == nil || x.root == nil {
			continue
		}
		if err := s.checkOperands(x.root); err != nil {
			return scope{}, err
		}
	}
	return s, nil
}

// conditionOf parses a condition, which may be missing.
func conditionOf(text *string) (*expression, error) {
	if text == nil {
		return nil, nil
	}
	if *text == "" {
		return nil, invalid("Invalid ConditionExpression: The expression can not be empty;")
	}
	return parseCondition(*text)
}

// attribute returns the name of the attribute that a path names.
func (s scope) attribute(path string) string {
	if strings.HasPrefix(path, "#") {
		return s.names[path]
	}
	return path
}

// value returns the value of an operand of a condition, or nil if it is missing.
func (s scope) value(o *operand) value {
	switch {
	case o.op == "size":
		if b, ok := bytesOf(s.value(o.args[0])); ok {
			return &types.AttributeValueMemberN{Value: strconv.Itoa(len(b))}
		}
		return nil
	case strings.HasPrefix(o.ref, ":"):
		return s.values[o.ref]
	default:
		return s.item[s.attribute(o.ref)]
	}
}

// holds reports whether a condition is true. A missing condition is true.
func (s scope) holds(x *expression) bool { return x == nil || s.isTrue(x.root) }

func (s scope) isTrue(n *node) bool {
	switch n.op {
	case "AND":
		return s.isTrue(n.kids[0]) && s.isTrue(n.kids[1])
	case "OR":
		return s.isTrue(n.kids[0]) || s.isTrue(n.kids[1])
	case "NOT":
		return !s.isTrue(n.kids[0])
	}
	args := make([]value, len(n.args))
	for i, o := range n.args {
		args[i] = s.value(o)
	}
	switch n.op {
	case "attribute_exists":
		return args[0] != nil
	case "attribute_not_exists":
		return args[0] == nil
	case "IN":
		return slices.ContainsFunc(args[1:], func(v value) bool { return equal(args[0], v) })
	case "<>":
		return !equal(args[0], args[1])
	case "attribute_type":
		return args[0] != nil && kind(args[0]) == text(args[1])
	case "begins_with", "contains":
		whole, ok := bytesOf(args[0])
		part, ok2 := bytesOf(args[1])
		if !ok || !ok2 || kind(args[0]) != kind(args[1]) {
			return false
		}
		if n.op == "contains" {
			return bytes.Contains(whole, part)
		}
		return bytes.HasPrefix(whole, part)
	case "BETWEEN":
		return ordered(">=", args[0], args[1]) && ordered("<=", args[0], args[2])
	default:
		return ordered(n.op, args[0], args[1])
	}
}

// ordered reports whether a comparison of two values holds. No comparison holds if the types differ or a value is
// missing.
func ordered(op string, a, b value) bool {
	order, comparable := compare(a, b)
	if !comparable {
		return false
	}
	switch op {
	case "=":
		return order == 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

// bytesOf returns the bytes of a text or of a binary value.
func bytesOf(v value) ([]byte, bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return []byte(v.Value), true
	case *types.AttributeValueMemberB:
		return v.Value, true
	default:
		return nil, false
	}
}

func text(v value) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// checkUpdate checks the attributes that an update names: none may be a key, and none may occur twice.
func (s scope) checkUpdate(t *table, u *update) error {
	var paths []string
	for _, a := range slices.Concat(u.set, u.add) {
		paths = append(paths, s.attribute(a.path))
	}
	for _, path := range u.remove {
		paths = append(paths, s.attribute(path))
	}
	for i, path := range paths {
		if slices.Contains(t.main.names(), path) {
			return invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is "+
				"part of the key", path)
		}
		if slices.Contains(paths[:i], path) {
			return invalid("Invalid UpdateExpression: Two document paths overlap with each other; must remove or "+
				"rewrite one of these paths; path one: [%s]", path)
		}
	}
	for _, a := range u.set {
		if err := s.checkArithmetic(a.to); err != nil {
			return err
		}
	}
	for _, a := range u.add {
		if v := s.values[a.to.ref]; v == nil || kind(v) != "N" {
			return invalid("Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD")
		}
	}
	return nil
}

// updated returns the item after an update. The update reads the values before it.
func (s scope) updated(key item, u *update) (item, error) {
	after := make(item, len(s.item)+len(u.set)+len(u.add))
	maps.Copy(after, s.item)
	maps.Copy(after, key)
	for _, a := range u.set {
		v, err := s.result(a.to)
		if err != nil {
			return nil, err
		}
		after[s.attribute(a.path)] = v
	}
	for _, a := range u.add {
		name := s.attribute(a.path)
		var before value = &types.AttributeValueMemberN{Value: "0"}
		if v := s.item[name]; v != nil {
			before = v
		}
		v, err := add(before, s.value(a.to), 1)
		if err != nil {
			return nil, err
		}
		after[name] = v
	}
	for _, path := range u.remove {
		delete(after, s.attribute(path))
	}
	return after, nil
}

// result returns the new value of an attribute.
func (s scope) result(o *operand) (value, error) {
	switch o.op {
	case "if_not_exists":
		if v := s.value(o.args[0]); v != nil {
			return v, nil
		}
		return s.result(o.args[1])
	case "+", "-":
		a, err := s.result(o.args[0])
		if err != nil {
			return nil, err
		}
		b, err := s.result(o.args[1])
		if err != nil {
			return nil, err
		}
		sign := int64(1)
		if o.op == "-" {
			sign = -1
		}
		return add(a, b, sign)
	}
	v := s.value(o)
	if v == nil {
		return nil, invalid("The provided expression refers to an attribute that does not exist in the item")
	}
	return v, nil
}

func add(a, b value, sign int64) (value, error) {
	x, ok := a.(*types.AttributeValueMemberN)
	y, ok2 := b.(*types.AttributeValueMemberN)
	if !ok || !ok2 {
		return nil, invalid("An operand in the update expression has an incorrect data type")
	}
	n, err := sum(x.Value, y.Value, sign)
	return &types.AttributeValueMemberN{Value: n}, err
}

// isKeyCondition returns an error unless a condition is a key condition of an index: an equal partition and, after an
// AND, one condition on the sort key.
func (x *index) isKeyCondition(s scope, e *expression) error {
	leaves := []*node{e.root}
	if e.root.op == "AND" {
		leaves = e.root.kids
	}
	var seen []string
	for _, n := range leaves {
		if len(n.args) < 2 || n.args[0].op != "" || isValue(n.args[0]) || !isValue(n.args[1]) {
			return invalid("Invalid operator used in KeyConditionExpression: %s", n.op)
		}
		name := s.attribute(n.args[0].ref)
		ranged := name == x.sort && slices.Contains([]string{"<", "<=", ">", ">=", "BETWEEN", "begins_with"}, n.op)
		if n.op != "=" && !ranged {
			return invalid("Query key condition not supported: %s %s", name, n.op)
		}
		seen = append(seen, name)
		for _, o := range n.args[1:] {
			v := s.values[o.ref]
			if v != nil && kind(v) != "S" {
				return invalid("One or more parameter values were invalid: Condition parameter type does not match " +
					"schema type")
			}
			if err := x.checkLengths(item{name: v}); v != nil && err != nil {
				return err
			}
			if v == nil || (kind(v) == "S" && text(v) == "") {
				return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute "+
					"cannot contain an empty string value. Key: %s", name)
			}
		}
		if n.op == "BETWEEN" && !ordered("<=", s.values[n.args[1].ref], s.values[n.args[2].ref]) {
			return invalid("Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater " +
				"than or equal to lower bound")
		}
	}
	if !slices.Contains(seen, x.hash) {
		return invalid("Query condition missed key schema element: %s", x.hash)
	}
	if len(seen) == 2 && !slices.Contains(seen, x.sort) || len(seen) > 2 {
		return invalid("Query key condition not supported: %v", seen)
	}
	return nil
}

// The bounds of expressions: bytes of the text, operators and functions of a condition, and values of IN.
const (
	maxExpression = 4096
	maxOperators  = 300
	maxIn         = 100
)

// checkCounts checks the numbers of operators and operands of a condition, which is nil if there is none.
func checkCounts(root *node) error {
	var operators, operands int
	var count func(*node)
	count = func(n *node) {
		operators++
		if n.op == "IN" {
			operands = max(operands, len(n.args)-1)
		}
		for _, kid := range n.kids {
			count(kid)
		}
	}
	if root != nil {
		count(root)
	}
	switch {
	case operators > maxOperators:
		return invalid("Invalid expression: The expression contains too many operators; operator count: %d", operators)
	case operands > maxIn:
		return invalid("Invalid expression: The IN operator is provided with too many operands; number of operands: %d",
			operands)
	}
	return nil
}

// checkOperands checks the values that a condition compares. DynamoDB refuses a value that no attribute could be
// compared with in this way.
func (s scope) checkOperands(n *node) error {
	for _, kid := range n.kids {
		if err := s.checkOperands(kid); err != nil {
			return err
		}
	}
	if len(n.args) == 2 && n.args[0].op == "" && n.args[0].op == n.args[1].op &&
		s.attribute(n.args[0].ref) == s.attribute(n.args[1].ref) {
		return invalid("The first operand must be distinct from the remaining operands for this operator or "+
			"function; operator: %s", n.op)
	}
	switch n.op {
	case "<", "<=", ">", ">=", "BETWEEN":
		if err := s.checkKinds(n.op, n.args, "S", "N", "B"); err != nil {
			return err
		}
	case "begins_with":
		if err := s.checkKinds(n.op, n.args[1:], "S", "B"); err != nil {
			return err
		}
	case "attribute_type":
		if err := s.checkKinds(n.op, n.args[1:], "S"); err != nil {
			return err
		}
	}
	if n.op == "BETWEEN" {
		from, to := s.literal(n.args[1]), s.literal(n.args[2])
		if from == nil || to == nil {
			return nil
		}
		if kind(from) != kind(to) {
			return invalid("The BETWEEN operator requires same data type for lower and upper bounds")
		}
		if !ordered("<=", from, to) {
			return invalid("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
		}
	}
	return nil
}

// literal returns the value of an operand that is a value of the call, or nil for an attribute.
func (s scope) literal(o *operand) value {
	if strings.HasPrefix(o.ref, ":") {
		return s.values[o.ref]
	}
	return nil
}

// checkKinds checks the types of the operands that are values of the call.
func (s scope) checkKinds(op string, args []*operand, kinds ...string) error {
	for _, o := range args {
		if v := s.literal(o); v != nil && !slices.Contains(kinds, kind(v)) {
			return invalid("Incorrect operand type for operator or function; operator or function: %s, operand type: "+
				"%s", op, kind(v))
		}
	}
	return nil
}

// checkArithmetic checks that only numbers are added or subtracted.
func (s scope) checkArithmetic(o *operand) error {
	if o.op == "+" || o.op == "-" {
		if err := s.checkKinds(o.op, o.args, "N"); err != nil {
			return err
		}
	}
	for _, arg := range o.args {
		if err := s.checkArithmetic(arg); err != nil {
			return err
		}
	}
	return nil
}

// The bounds of keys, in bytes.
const (
	maxHashKey = 2048
	maxSortKey = 1024
)

// checkLengths checks the lengths of the values that are keys of an index.
func (x *index) checkLengths(it item) error {
	for name, most := range map[string]int{x.hash: maxHashKey, x.sort: maxSortKey} {
		if v := it[name]; v != nil && valueSize(v) > most {
			return invalid("One or more parameter values were invalid: Size of %s has exceeded the maximum size "+
				"limit of %d bytes", name, most)
		}
	}
	return nil
}

// checkLengths checks the lengths of the keys of the table and of its indexes.
func (t *table) checkLengths(it item) error {
	for _, x := range t.indexes {
		if err := x.checkLengths(it); err != nil {
			return err
		}
	}
	return t.main.checkLengths(it)
}
