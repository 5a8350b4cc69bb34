package simulate

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Defect is a deliberate defect of the kernel, which a simulation must find. It changes the data that the kernel
// reads and writes, because the kernel has no switch for it.
type Defect int

const (
	// NoDefect leaves the kernel as it is.
	NoDefect Defect = iota
	// LeaseIgnored hides the lease of a task from the kernel, as if the kernel did not check it.
	LeaseIgnored
	// StepUnfenced writes the outcomes of steps without the condition that no other delivery has taken the step.
	StepUnfenced
)

// isTask reports whether an item is a task.
func isTask(it attributes) bool { return strings.HasPrefix(textOf(it, "pk"), "task#") }

// hideLease removes the lease from a task that was read.
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

// unfenced removes the condition from the write of an existing task.
func unfenced(put types.Put) types.Put {
	if isTask(put.Item) && put.ConditionExpression != nil && !strings.Contains(*put.ConditionExpression,
		"attribute_not_exists") {
		put.ConditionExpression, put.ExpressionAttributeNames, put.ExpressionAttributeValues = nil, nil, nil
	}
	return put
}
