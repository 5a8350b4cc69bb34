package main

import "github.com/content-automation/api/pkg/httpapi"

func routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/v1/me", Function: "account"},
		{Method: "GET", Path: "/v1/audit-log", Function: "account"},
		{Method: "GET", Path: "/v1/events", Function: "account"},
		{Method: "GET", Path: "/v1/events/{event_id}", Function: "account"},
		{Method: "GET", Path: "/v1/api-keys", Function: "apikey"},
		{Method: "POST", Path: "/v1/api-keys", Function: "apikey"},
		{Method: "GET", Path: "/v1/api-keys/{api_key_id}", Function: "apikey"},
		{Method: "GET", Path: "/v1/catalog/models", Function: "catalog"},
		{Method: "GET", Path: "/v1/factories", Function: "factory"},
		{Method: "POST", Path: "/v1/factories", Function: "factory"},
		{Method: "GET", Path: "/v1/content-items", Function: "content"},
		{Method: "POST", Path: "/v1/content-items", Function: "content"},
		{Method: "GET", Path: "/v1/webhooks", Function: "webhook"},
	}
}
