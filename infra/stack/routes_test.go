package stack_test

import "github.com/content-automation/api/pkg/httpapi"

func routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/v1/me", Function: "account"},
		{Method: "GET", Path: "/v1/factories", Function: "factory"},
		{Method: "POST", Path: "/v1/factories", Function: "factory"},
		{Method: "GET", Path: "/v1/factories/{factory_id}", Function: "factory"},
	}
}
