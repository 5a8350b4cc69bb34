// Package orchestrator is the stack of the operators' account that deploys the cells of a wave in one region: a state
// machine of Step Functions, the table of the cells, and the bucket of the templates and the code. The machine is
// written out as Amazon States Language, so that tests can run it.
package orchestrator

import (
	"encoding/json"
	"fmt"
)

// Stack is a stack of a cell in the list that a wave is made of.
type Stack struct {
	Name string `json:"name"`
	// Template is the address of the template in the bucket of the region.
	Template string `json:"template"`
	// Type is CREATE for a stack that does not exist, and otherwise UPDATE.
	Type string `json:"type"`
	Tags []Tag  `json:"tags"`
	// First reports that nothing of the release is before it: its change set must be made before any cell is changed.
	First bool `json:"first"`
}

// Tag is a tag of a stack.
type Tag struct{ Key, Value string }

// Cell is a cell in the list that a wave is made of.
type Cell struct {
	Cell string `json:"cell"`
	// Role is assumed for each call, and Executor is passed on to CloudFormation.
	Role     string  `json:"role"`
	Executor string  `json:"executor"`
	Version  string  `json:"version"`
	Stacks   []Stack `json:"stacks"`
}

// Input is the input of an execution.
type Input struct {
	Bucket string `json:"bucket"`
	// Key is the object with the list of cells.
	Key string `json:"key"`
}

type object = map[string]any

// The seconds between two questions about a change set and about a stack.
const (
	askChangeSet = 10
	askStack     = 30
)

// Parallel is the number of cells that are deployed at the same time.
const Parallel = 350

// unchanged are the reasons by which CloudFormation makes no change set, since there is nothing to change.
var unchanged = []string{"*didn't contain changes*", "*No updates are to be performed*"}

// call returns a call of AWS in the account of a cell. Step Functions assumes the role for each call, so that no
// credentials end during a long run. Throttled calls are repeated.
func call(service, action, next string, arguments object) object {
	return object{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:" + service + ":" + action,
		"Credentials": object{"RoleArn.$": "$.role"}, "Parameters": arguments, "Next": next, "TimeoutSeconds": 60,
		"Retry": []object{{"ErrorEquals": []string{"CloudFormation.ThrottlingException", "States.Timeout"},
			"IntervalSeconds": 5, "BackoffRate": 2, "MaxAttempts": 6, "JitterStrategy": "FULL"}}}
}

// with adds members to a state, and returns the same state.
func with(state, more object) object {
	for name, value := range more {
		state[name] = value
	}
	return state
}

func catch(next string) object {
	return object{"Catch": []object{{"ErrorEquals": []string{"States.ALL"}, "Next": next, "ResultPath": nil}}}
}

var ofChangeSet = object{"StackName.$": "$.stack.name", "ChangeSetName.$": "$.change"}

// create makes the change set of a stack.
func create(next string) object {
	return with(call("cloudformation", "createChangeSet", next, object{
		"StackName.$": "$.stack.name", "ChangeSetName.$": "$.change", "ChangeSetType.$": "$.stack.type",
		"TemplateURL.$": "$.stack.template", "RoleARN.$": "$.executor", "Tags.$": "$.stack.tags",
		"Capabilities": []string{"CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"}}), object{"ResultPath": nil})
}

// found is the output of describe: the input with the status of the change set, or executed, and its reason, which only
// a refused one has. The changes themselves may be larger than a state.
const (
	found = `{% $merge([$states.input, {"set": {"Status": $states.result.ExecutionStatus in ["AVAILABLE", ` +
		`"UNAVAILABLE"] ? $states.result.Status : "` + executed + `", "Reason": ` +
		`$exists($states.result.StatusReason) ? $states.result.StatusReason : ""}}]) %}`
	executed = "EXECUTED"
)

// describe reads the status of the change set.
func describe(next string) object {
	s := call("cloudformation", "describeChangeSet", next, nil)
	delete(s, "Parameters")
	return with(s, object{"QueryLanguage": "JSONata", "Output": found,
		"Credentials": object{"RoleArn": "{% $states.input.role %}"}, "Arguments": object{
			"StackName": "{% $states.input.stack.name %}", "ChangeSetName": "{% $states.input.change %}"}})
}

func wait(seconds int, next string) object {
	return object{"Type": "Wait", "Seconds": seconds, "Next": next}
}

func is(variable, text, next string) object {
	return object{"Variable": variable, "StringEquals": text, "Next": next}
}

func like(variable, next string, patterns ...string) object {
	var rules []object
	for _, p := range patterns {
		rules = append(rules, object{"Variable": variable, "StringMatches": p})
	}
	return object{"Or": rules, "Next": next}
}

func choice(otherwise string, choices ...object) object {
	return object{"Type": "Choice", "Choices": choices, "Default": otherwise}
}

func fail(name string) object {
	return object{"Type": "Fail", "Error": name, "CausePath": "$.set.Reason"}
}

// prepare makes the change set of a stack, and waits until it is made or refused. A stack that needs what another one
// is about to export is refused here, and prepared again in its turn.
func prepare() object {
	return object{"StartAt": "Create", "States": object{
		"Create":   with(create("Making"), catch("Making")), // an earlier execution has made it
		"Making":   wait(askChangeSet, "Describe"),
		"Describe": describe("Made"),
		"Made": choice("Making", is("$.set.Status", "CREATE_COMPLETE", "Prepared"),
			is("$.set.Status", executed, "Prepared"), is("$.set.Status", "FAILED", "Needless")),
		"Needless": choice("Later", like("$.set.Reason", "Prepared", unchanged...)),
		"Later": choice("Prepared", object{"Variable": "$.stack.first", "BooleanEquals": true,
			"Next": "Unprepared"}),
		"Unprepared": fail("Unprepared"),
		"Prepared":   object{"Type": "Succeed"},
	}}
}

// execute executes the change set of a stack, which it makes again if it was refused, and waits for the stack.
func execute() object {
	return object{"StartAt": "Describe", "States": object{
		"Describe": with(describe("Made"), object{"Catch": []object{{"ErrorEquals": []string{"States.ALL"},
			"Next": "Create", "Output": "{% $states.input %}"}}}),
		"Made": choice("Discard", is("$.set.Status", "CREATE_COMPLETE", "Execute"),
			like("$.set.Reason", "Deployed", unchanged...)),
		"Discard": with(with(call("cloudformation", "deleteChangeSet", "Create", ofChangeSet), catch("Create")),
			object{"ResultPath": nil}),
		"Create":        create("Making"),
		"Making":        wait(askChangeSet, "DescribeAgain"),
		"DescribeAgain": describe("MadeAgain"),
		"MadeAgain": choice("Making", is("$.set.Status", "CREATE_COMPLETE", "Execute"),
			is("$.set.Status", "FAILED", "Needless")),
		"Needless":   choice("Unprepared", like("$.set.Reason", "Deployed", unchanged...)),
		"Unprepared": fail("Unprepared"),
		"Execute": with(call("cloudformation", "executeChangeSet", "Running", ofChangeSet),
			object{"ResultPath": nil}),
		"Running": wait(askStack, "Look"),
		"Look": with(call("cloudformation", "describeStacks", "Ended", object{"StackName.$": "$.stack.name"}),
			object{"ResultPath": "$.set", "ResultSelector": object{"Status.$": "$.Stacks[0].StackStatus",
				"Reason.$": "$.Stacks[0].StackStatus"}}),
		"Ended": choice("Running", is("$.set.Status", "CREATE_COMPLETE", "Deployed"),
			is("$.set.Status", "UPDATE_COMPLETE", "Deployed"),
			is("$.set.Status", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "Deployed"),
			like("$.set.Status", "Undeployed", "*ROLLBACK*", "*FAILED*")),
		"Undeployed": fail("Undeployed"),
		"Deployed":   object{"Type": "Succeed"},
	}}
}

// stacks takes the stacks of a cell, as many at a time as most says, 0 for all.
func stacks(most int, each object, more object) object {
	each["ProcessorConfig"] = object{"Mode": "INLINE"}
	return with(object{"Type": "Map", "ItemsPath": "$.stacks", "MaxConcurrency": most, "ItemProcessor": each,
		"ResultPath": nil, "ItemSelector": object{"stack.$": "$$.Map.Item.Value", "role.$": "$.role",
			"executor.$": "$.executor", "change.$": "States.Format('release-{}', $.version)"}}, more)
}

// cells takes the cells of the list, each in an execution of its own. The first failure begins no further cell.
func cells(label, start string, states object, more object) object {
	return with(object{"Type": "Map", "Label": label, "MaxConcurrency": Parallel, "ToleratedFailureCount": 0,
		"ResultPath": nil,
		"ItemReader": object{"Resource": "arn:aws:states:::s3:getObject",
			"ReaderConfig": object{"InputType": "JSON"}, "Parameters": object{"Bucket.$": "$.bucket", "Key.$": "$.key"}},
		"ItemProcessor": object{"ProcessorConfig": object{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			"StartAt": start, "States": states}}, more)
}

// Machine returns the definition of the state machine. Table is the name of the table of the cells.
//
// All change sets are prepared first: a template that CloudFormation refuses stops the wave before any cell has
// changed.
func Machine(table string) object {
	end := object{"End": true}
	return object{"Comment": "Deploys the cells of a wave in one region", "StartAt": "Prepare", "States": object{
		"Prepare": cells("Prepare", "Stacks", object{"Stacks": stacks(0, prepare(), end)}, object{"Next": "Deploy"}),
		"Deploy": cells("Deploy", "Stacks", object{
			"Stacks": stacks(1, execute(), object{"Next": "Record"}),
			"Record": object{"Type": "Task", "Resource": "arn:aws:states:::dynamodb:updateItem", "ResultPath": nil,
				"End": true,
				"Parameters": object{"TableName": table, "Key": object{"cell": object{"S.$": "$.cell"}},
					"UpdateExpression": "SET deployed = :version", "ExpressionAttributeValues": object{
						":version": object{"S.$": "$.version"}}}}}, end),
	}}
}

// Text returns the definition of the state machine as JSON.
func Text(table string) string {
	text, err := json.Marshal(Machine(table))
	if err != nil {
		panic(fmt.Sprintf("orchestrator: %v", err)) // it is code, not input
	}
	return string(text)
}
