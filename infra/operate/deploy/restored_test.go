package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/store"
)

// restores is an AWS with two tables as DynamoDB restores them.
type restores struct {
	tables map[string]*restoredState
	calls  []string
}

type restoredState struct {
	key, view      string
	indexes        []store.Index
	recovers, ends bool
	updating       int // questions until the table is active again
}

func (a *restores) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var in struct {
		TableName           string
		StreamSpecification struct{ StreamViewType string }
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	if operation == "DescribeKey" {
		_, _ = fmt.Fprint(w, `{"KeyMetadata": {"KeyId": "k", "Arn": "arn:key"}}`)
		return
	}
	t := a.tables[in.TableName]
	if strings.HasPrefix(operation, "Update") {
		a.calls = append(a.calls, operation+" "+in.TableName)
	}
	answer := "{}"
	switch operation {
	case "DescribeTable":
		status := "ACTIVE"
		if t.updating > 0 {
			t.updating--
			status = "UPDATING"
		}
		var indexes []string
		for _, x := range t.indexes {
			indexes = append(indexes, `{"IndexName": "`+x.Name()+`"}`)
		}
		stream := ""
		if t.view != "" {
			stream = fmt.Sprintf(`, "LatestStreamArn": "arn:%s", "StreamSpecification": {"StreamEnabled": true, "StreamViewType": %q}`,
				in.TableName, t.view)
		}
		answer = fmt.Sprintf(`{"Table": {"TableStatus": %q, "SSEDescription": {"KMSMasterKeyArn": %q},
			"GlobalSecondaryIndexes": [%s]%s}}`, status, t.key, strings.Join(indexes, ","), stream)
	case "UpdateTable":
		t.view, t.updating = in.StreamSpecification.StreamViewType, 2
	case "DescribeContinuousBackups":
		answer = fmt.Sprintf(`{"ContinuousBackupsDescription": {"PointInTimeRecoveryDescription":
			{"PointInTimeRecoveryStatus": %q}}}`, map[bool]string{true: "ENABLED", false: "DISABLED"}[t.recovers])
	case "UpdateContinuousBackups":
		t.recovers = true
	case "DescribeTimeToLive":
		answer = fmt.Sprintf(`{"TimeToLiveDescription": {"TimeToLiveStatus": %q}}`,
			map[bool]string{true: "ENABLED", false: "DISABLED"}[t.ends])
	case "UpdateTimeToLive":
		t.ends = true
	}
	_, _ = fmt.Fprint(w, answer)
}

// A deployment onto restored tables turns on what DynamoDB has not restored, and only that.
func TestRestoredTablesAreCompletedBeforeTheDeployment(t *testing.T) {
	a := &restores{tables: map[string]*restoredState{"s2": {key: "arn:key", indexes: store.StateIndexes},
		"a2": {key: "arn:key", indexes: store.AuditIndexes}}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "a",
		"AWS_SECRET_ACCESS_KEY": "b", "NO_PROXY": "127.0.0.1", "AWS_MAX_ATTEMPTS": "1"} {
		t.Setenv(name, value)
	}
	o, err := read([]string{"-customer", "acme"})
	if err != nil {
		t.Fatal(err)
	}
	waited := 0
	prepare := func() error { return prepareRestored(t.Context(), o, func(time.Duration) { waited++ }) }
	if err := prepare(); err != nil || len(a.calls) > 0 {
		t.Errorf("without the setting: %v, %v", a.calls, err)
	}
	o.RestoredTables = map[string]customer.Restored{o.Name(): {State: "s2", Audit: "a2"}}
	if _, err := lookUp(t.Context(), o); err == nil || !strings.Contains(err.Error(), "has no stream yet") {
		t.Errorf("before: %v", err)
	}
	if err := prepare(); err != nil {
		t.Fatal(err)
	}
	want := []string{"UpdateContinuousBackups s2", "UpdateTimeToLive s2", "UpdateTable s2", "UpdateContinuousBackups a2",
		"UpdateTimeToLive a2", "UpdateTable a2"}
	if !slices.Equal(a.calls, want) || waited != 4 {
		t.Errorf("%v, %d waits", a.calls, waited)
	}
	if a.tables["s2"].view != "NEW_IMAGE" || a.tables["a2"].view != "NEW_AND_OLD_IMAGES" {
		t.Errorf("streams of %s and %s", a.tables["s2"].view, a.tables["a2"].view)
	}
	values, err := lookUp(t.Context(), o)
	if err != nil || len(values) != 2 || values[1] != `found={"stateStream":"arn:s2","auditStream":"arn:a2"}` {
		t.Errorf("%v, %v", values, err)
	}
	if a.calls = nil; prepare() != nil || len(a.calls) > 0 {
		t.Errorf("once more: %v", a.calls)
	}
	for change, refusal := range map[*restoredState]string{
		{key: "arn:aws:kms:other", indexes: store.StateIndexes}: "not encrypted with the customer's key",
		{key: "arn:key"}: "has no index",
		{key: "arn:key", indexes: store.StateIndexes, updating: 1}:       "it is UPDATING",
		{key: "arn:key", indexes: store.StateIndexes, view: "OLD_IMAGE"}: "its stream has OLD_IMAGE",
		{key: "arn:key", indexes: store.StateIndexes, view: "KEYS_ONLY"}: "its stream has KEYS_ONLY",
	} {
		a.tables["s2"] = change
		if err := prepare(); err == nil || !strings.Contains(err.Error(), "the restored table s2: ") ||
			!strings.Contains(err.Error(), refusal) {
			t.Errorf("%v, want %q", err, refusal)
		}
	}
}
