package memtable

import (
	"slices"
	"strings"
)

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
