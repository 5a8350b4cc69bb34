package simulate

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Defect is a defect of the kernel that is put in on purpose, to see that it is found.
// It lies in what the kernel reads and writes: the kernel itself has no switch for it.
type Defect int

const (
	// NoDefect leaves the kernel as it is.
	NoDefect Defect = iota
	// LeaseIgnored hides the lease of a task from the kernel, as if it did not check it.
	LeaseIgnored
	// StepUnfenced writes the outcomes of steps without the condition that no other
	// delivery has taken the step.
	StepUnfenced
)

// isTask reports whether an item is a task.
func isTask(it attributes) bool { return strings.HasPrefix(textOf(it, "pk"), "task#") }

// hideLease takes the lease out of a task that was read.
func hideLease(it attributes) {
	if !isTask(it) {
		return
	}
	var doc map[string]json.RawMessage
	must(json.Unmarshal([]byte(textOf(it, "doc")), &doc))
	delete(doc, "lease")
	b, err := json.Marshal(doc)
	must(err)
	delete(it, "packed")
	it["doc"] = &types.AttributeValueMemberS{Value: string(b)}
}

// unfenced takes the condition from the write of a task that is there.
func unfenced(put types.Put) types.Put {
	if isTask(put.Item) && put.ConditionExpression != nil && !strings.Contains(*put.ConditionExpression,
		"attribute_not_exists") {
		put.ConditionExpression, put.ExpressionAttributeNames, put.ExpressionAttributeValues = nil, nil, nil
	}
	return put
}
