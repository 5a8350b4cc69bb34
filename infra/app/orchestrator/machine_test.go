package orchestrator

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// errRun is the error of a failed execution.
type errRun struct{ name, cause string }

func (e *errRun) Error() string { return e.name + ": " + e.cause }

// stackTimes are the minutes that CloudFormation takes to update a stack, at least and at most: assumptions, since no
// stack was ever deployed. Those with functions wait for the canary, whose ten minutes are the default of
// canaryMinutes; the functions of a stack are shifted at the same time. The data stack has tables, keys and the user
// pool, which an update checks; the gateway's deployment and its functions are in api and areas.
var stackTimes = map[string][2]float64{"data": {1, 4}, "work": {12, 18}, "areas": {12, 16}, "api": {12, 18}}

// changeSetSeconds is the time in which CloudFormation makes a change set of some hundred resources.
var changeSetSeconds = [2]float64{20, 90}

// cloud is CloudFormation in the account of one cell, by a clock of its own.
type cloud struct {
	t      *testing.T
	random *rand.Rand
	now    time.Time
	sets   map[string]string // status by stack
	ready  map[string]time.Time
	busy   map[string]time.Time
	// needs are the stacks whose first change set is refused until the one before is deployed.
	needs map[string]string
	done  map[string]bool
	// same are the stacks without changes, and broken those whose update is rolled back.
	same, broken map[string]bool
	calls        []string
	// throttled is the number of calls that are refused as too many.
	throttled int
}

func newCloud(t *testing.T, seed uint64) *cloud {
	return &cloud{t: t, random: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC),
		sets: map[string]string{}, ready: map[string]time.Time{}, busy: map[string]time.Time{}, done: map[string]bool{},
		needs: map[string]string{}, same: map[string]bool{}, broken: map[string]bool{}}
}

func (c *cloud) between(of [2]float64, unit time.Duration) time.Duration {
	return time.Duration((of[0] + c.random.Float64()*(of[1]-of[0])) * float64(unit))
}

// call answers a call of a state.
func (c *cloud) call(action string, in object) (object, error) {
	c.now = c.now.Add(300 * time.Millisecond)
	if c.throttled > 0 {
		c.throttled--
		return nil, &errRun{"CloudFormation.ThrottlingException", "Rate exceeded"}
	}
	name, _ := in["StackName"].(string)
	part := name[strings.LastIndex(name, "-")+1:]
	c.calls = append(c.calls, action+" "+part)
	switch action {
	case "createChangeSet":
		if c.sets[name] != "" {
			return nil, &errRun{"CloudFormation.AlreadyExistsException", name}
		}
		c.sets[name], c.ready[name] = "CREATE_COMPLETE", c.now.Add(c.between(changeSetSeconds, time.Second))
		if before := c.needs[part]; before != "" && !c.done[before] || c.same[part] {
			c.sets[name] = "FAILED"
		}
		return object{}, nil
	case "describeChangeSet":
		reason := "No export named x found"
		if c.same[part] {
			reason = "The submitted information didn't contain changes. Submit different information."
		}
		switch status := c.sets[name]; {
		case status == "":
			return nil, &errRun{"CloudFormation.ChangeSetNotFoundException", name}
		case c.now.Before(c.ready[name]):
			return object{"Status": "CREATE_IN_PROGRESS"}, nil
		case status == "FAILED":
			return object{"Status": status, "StatusReason": reason}, nil
		default:
			return object{"Status": status}, nil
		}
	case "deleteChangeSet":
		delete(c.sets, name)
		return object{}, nil
	case "executeChangeSet":
		delete(c.sets, name)
		c.busy[name] = c.now.Add(c.between(stackTimes[part], time.Minute))
		return object{}, nil
	case "describeStacks":
		status := "UPDATE_IN_PROGRESS"
		if !c.now.Before(c.busy[name]) {
			if status = "UPDATE_COMPLETE"; c.broken[part] {
				status = "UPDATE_ROLLBACK_COMPLETE"
			}
			c.done[part] = true
		}
		return object{"Stacks": []any{object{"StackStatus": status}}}, nil
	case "updateItem":
		return object{}, nil
	}
	c.t.Fatalf("no call %s", action)
	return nil, nil
}

// at returns what a path of a state's input names.
func at(p string, in any) any {
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(p, "$"), "."), ".") {
		name, index, list := strings.Cut(part, "[")
		if name != "" {
			in = in.(object)[name]
		}
		if list {
			in = in.([]any)[index[0]-'0']
		}
	}
	return in
}

// filled fills a template of parameters, with the item of a map.
func filled(template any, in object, item any) any {
	switch template := template.(type) {
	case object:
		out := object{}
		for name, value := range template {
			text, _ := value.(string)
			switch bare, by := strings.CutSuffix(name, ".$"); {
			case by && text == "$$.Map.Item.Value":
				out[bare] = item
			case by && strings.HasPrefix(text, "States.Format('release-{}'"):
				out[bare] = "release-" + fmt.Sprint(in["version"])
			case by:
				out[bare] = at(text, in)
			case strings.HasPrefix(text, "{% $states.input."):
				out[name] = at("$."+strings.TrimSuffix(strings.TrimPrefix(text, "{% $states.input."), " %}"), in)
			default:
				out[name] = filled(value, in, item)
			}
		}
		return out
	default:
		return template
	}
}

// matches reports whether a rule of a choice holds.
func matches(rule object, in object) bool {
	if rules, ok := rule["Or"].([]any); ok {
		return slices.ContainsFunc(rules, func(r any) bool { return matches(r.(object), in) })
	}
	value := at(rule["Variable"].(string), in)
	switch {
	case rule["StringEquals"] != nil:
		return value == rule["StringEquals"]
	case rule["BooleanEquals"] != nil:
		return value == rule["BooleanEquals"]
	}
	ok, err := path.Match(strings.ReplaceAll(rule["StringMatches"].(string), "'", "?"),
		strings.ReplaceAll(fmt.Sprint(value), "/", "_"))
	return ok && err == nil
}

// run runs states as Step Functions does, on the clock of the cloud.
func (c *cloud) run(machine, in object) error {
	states, name := machine["States"].(object), machine["StartAt"].(string)
	for steps := 0; ; steps++ {
		s, ok := states[name].(object)
		if !ok || steps > 10_000 {
			return fmt.Errorf("no state %s, or no end", name)
		}
		next, err := c.step(s, &in)
		var failed *errRun
		catchers, _ := s["Catch"].([]any)
		if errors.As(err, &failed) && len(catchers) > 0 && s["Type"] != "Fail" {
			next, err = catchers[0].(object)["Next"].(string), nil
		}
		if err != nil {
			return err
		}
		if next == "" {
			return nil
		}
		name = next
	}
}

func (c *cloud) step(s object, in *object) (next string, err error) {
	next, _ = s["Next"].(string)
	switch s["Type"] {
	case "Wait":
		c.now = c.now.Add(time.Duration(s["Seconds"].(float64)) * time.Second)
	case "Choice":
		next = s["Default"].(string)
		for _, rule := range s["Choices"].([]any) {
			if matches(rule.(object), *in) {
				return rule.(object)["Next"].(string), nil
			}
		}
	case "Fail":
		return "", &errRun{s["Error"].(string), fmt.Sprint(at(s["CausePath"].(string), *in))}
	case "Succeed":
		return "", nil
	case "Map":
		return next, c.each(s, *in)
	case "Task":
		return next, c.task(s, in)
	default:
		return "", fmt.Errorf("no type %v", s["Type"])
	}
	return next, nil
}

// each runs the items of an inline map: one after the other, or all at once.
func (c *cloud) each(s, in object) error {
	began, ended := c.now, c.now
	for _, item := range at(s["ItemsPath"].(string), in).([]any) {
		if s["MaxConcurrency"].(float64) == 0 {
			c.now = began
		}
		one, _ := filled(s["ItemSelector"], in, item).(object)
		if err := c.run(s["ItemProcessor"].(object), one); err != nil {
			return err
		}
		if c.now.After(ended) {
			ended = c.now
		}
	}
	c.now = ended
	return nil
}

// task makes a call, as often as its state allows.
func (c *cloud) task(s object, in *object) error {
	resource := s["Resource"].(string)
	of := s["Parameters"]
	if of == nil {
		of = s["Arguments"]
	}
	if strings.Contains(resource, "aws-sdk") {
		role, _ := filled(s["Credentials"], *in, nil).(object)
		if role["RoleArn"] != "arn:aws:iam::111122223333:role/deploy" {
			c.t.Errorf("a call in the account of a cell has the credentials %v", role)
		}
	}
	args, _ := filled(of, *in, nil).(object)
	pause := 5 * time.Second
	for try := 0; ; try++ {
		out, err := c.call(resource[strings.LastIndex(resource, ":")+1:], args)
		var failed *errRun
		if errors.As(err, &failed) && failed.name == "CloudFormation.ThrottlingException" && try < 6 && s["Retry"] != nil {
			c.now = c.now.Add(pause)
			pause *= 2
			continue
		}
		if err != nil {
			return err
		}
		switch {
		case s["Output"] == found:
			reason, _ := out["StatusReason"].(string)
			*in = merged(*in, object{"Status": out["Status"], "Reason": reason})
		case s["ResultPath"] == "$.set":
			set, _ := filled(s["ResultSelector"], out, nil).(object)
			*in = merged(*in, set)
		}
		return nil
	}
}

func merged(in, set object) object {
	out := object{"set": set}
	for name, value := range in {
		if name != "set" {
			out[name] = value
		}
	}
	return out
}

// plain returns a value as JSON decodes it.
func plain(t *testing.T, v any) object {
	t.Helper()
	var out object
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func cell(t *testing.T, name string) object {
	c := Cell{Cell: name, Role: "arn:aws:iam::111122223333:role/deploy", Executor: "arn:exec", Version: "v2"}
	for i, part := range []string{"data", "work", "areas", "api"} {
		c.Stacks = append(c.Stacks, Stack{Name: name + "-" + part, Template: "https://t", Type: "UPDATE", First: i == 0,
			Tags: []Tag{}})
	}
	return plain(t, c)
}

// both runs the two maps of the machine for one cell, and returns the times that they take.
func (c *cloud) both(of object) (prepared, deployed time.Duration, err error) {
	states := plain(c.t, Machine("cells"))["States"].(object)
	began := c.now
	if err := c.run(states["Prepare"].(object)["ItemProcessor"].(object), of); err != nil {
		return 0, 0, err
	}
	prepared, began = c.now.Sub(began), c.now
	err = c.run(states["Deploy"].(object)["ItemProcessor"].(object), of)
	return prepared, c.now.Sub(began), err
}

func TestACellIsPreparedAndDeployed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*cloud)
		fails  string
		calls  string // of the deployment of api and all others
		n      int
	}{
		"all change": {func(*cloud) {}, "", "executeChangeSet", 4},
		"nothing changes": {func(c *cloud) {
			c.same = map[string]bool{"data": true, "work": true, "areas": true, "api": true}
		}, "", "executeChangeSet", 0},
		"one needs another's export": {func(c *cloud) { c.needs["work"], c.needs["api"] = "data", "areas" }, "",
			"createChangeSet", 6},
		"the first is refused": {func(c *cloud) { c.needs["data"] = "never" }, "Unprepared: No export named x found",
			"executeChangeSet", 0},
		"another is refused for ever": {func(c *cloud) { c.needs["api"] = "never" }, "Unprepared: No export named x found",
			"executeChangeSet", 3},
		"an update is rolled back": {func(c *cloud) { c.broken["work"] = true }, "Undeployed: UPDATE_ROLLBACK_COMPLETE",
			"executeChangeSet", 2},
		"CloudFormation is throttled": {func(c *cloud) { c.throttled = 5 }, "", "executeChangeSet", 4},
	} {
		of := newCloud(t, 1)
		c.change(of)
		_, _, err := of.both(cell(t, "acme"))
		if (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(strings.Join(of.calls, "\n"), c.calls); n != c.n {
			t.Errorf("%s: %d calls of %s", name, n, c.calls)
		}
	}
}

// A second execution of the same version finds what the first has left.
func TestAnInterruptedWaveIsRepeated(t *testing.T) {
	c := newCloud(t, 2)
	c.broken["areas"] = true
	if _, _, err := c.both(cell(t, "acme")); err == nil {
		t.Fatal("the first execution has succeeded")
	}
	c.broken, c.same = nil, map[string]bool{"data": true, "work": true}
	if _, _, err := c.both(cell(t, "acme")); err != nil || !c.done["api"] {
		t.Errorf("the second execution: %v", err)
	}
}

// ends are the ends of the cells in progress, the earliest first.
type ends []time.Duration

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i] < e[j] }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(time.Duration)) }
func (e *ends) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// schedule returns the time in which a distributed map takes children, Parallel at a time. It begins ten a second: an
// assumption far below what Step Functions starts.
func schedule(children []time.Duration) time.Duration {
	var running ends
	var now, last time.Duration
	for _, took := range children {
		now += 100 * time.Millisecond
		if len(running) == Parallel {
			now = max(now, heap.Pop(&running).(time.Duration))
		}
		heap.Push(&running, now+took)
		last = max(last, now+took)
	}
	return last
}

// TestAWaveOf700Cells simulates the last wave of 1,000 customers with the durations above: the definition of the
// machine runs, and CloudFormation is simulated.
func TestAWaveOf700Cells(t *testing.T) {
	var prepared, deployed []time.Duration
	for i := range 700 {
		c := newCloud(t, uint64(i))
		c.needs["api"] = "areas" // a release in which one stack needs a new export of another
		c.throttled = i % 3
		p, d, err := c.both(cell(t, fmt.Sprint("cell-", i)))
		if err != nil {
			t.Fatal(err)
		}
		prepared, deployed = append(prepared, p), append(deployed, d)
	}
	first, second := schedule(prepared), schedule(deployed)
	t.Logf("prepared in %v, deployed in %v; a cell takes %v to %v", first.Round(time.Second), second.Round(time.Second),
		slices.Min(deployed).Round(time.Second), slices.Max(deployed).Round(time.Second))
	if total := first + second; total >= 2*time.Hour || total < slices.Max(deployed)*3/2 {
		t.Errorf("a wave of 700 cells takes %v", total)
	}
}
