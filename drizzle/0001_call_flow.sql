CREATE TABLE "call_recordings" (
	"recording_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"telephony_session_id" text NOT NULL,
	"content_uri" text NOT NULL,
	"content_type" text,
	"duration_ms" integer,
	"s3_key" text,
	"bytes" bigint,
	"stored_at" timestamp (3) with time zone,
	"unavailable_reason" text,
	"transcription_job" text,
	"transcription_status" text DEFAULT 'none' NOT NULL,
	"transcription_reason" text,
	"transcription_started_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "calls" (
	"account_id" text NOT NULL,
	"telephony_session_id" text NOT NULL,
	"session_id" text,
	"party_id" text DEFAULT '' NOT NULL,
	"party_rank" integer DEFAULT 0 NOT NULL,
	"party_sequence" bigint DEFAULT 0 NOT NULL,
	"extension_id" text,
	"direction" text,
	"from_number" text,
	"to_number" text,
	"contact_phone" text,
	"store_id" uuid,
	"franchise_id" text,
	"extension_ids" text[] DEFAULT '{}' NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"untold" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"last_sequence" bigint DEFAULT -1 NOT NULL,
	"last_party_id" text DEFAULT '' NOT NULL,
	"last_event_at" timestamp (3) with time zone NOT NULL,
	"call_log_status" text DEFAULT 'none' NOT NULL,
	"result" text,
	"duration_ms" integer,
	"snapshot" jsonb,
	"snapshot_at" timestamp (3) with time zone,
	"recording_available" boolean DEFAULT false NOT NULL,
	"recording_status" text DEFAULT 'pending' NOT NULL,
	"recording_reason" text,
	"voicemail_status" text DEFAULT 'none' NOT NULL,
	"next_step" text,
	"next_attempt_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "calls_account_id_telephony_session_id_pk" PRIMARY KEY("account_id","telephony_session_id")
);
--> statement-breakpoint
CREATE TABLE "transcripts" (
	"source" text NOT NULL,
	"source_id" text NOT NULL,
	"text" text NOT NULL,
	"segments" jsonb NOT NULL,
	"language" text,
	"speaker_basis" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "transcripts_source_source_id_pk" PRIMARY KEY("source","source_id")
);
--> statement-breakpoint
CREATE TABLE "voicemails" (
	"account_id" text NOT NULL,
	"message_id" text NOT NULL,
	"telephony_session_id" text NOT NULL,
	"message_uri" text NOT NULL,
	"content_type" text,
	"duration_ms" integer,
	"s3_key" text,
	"bytes" bigint,
	"stored_at" timestamp (3) with time zone,
	"unavailable_reason" text,
	"transcription_job" text,
	"transcription_status" text DEFAULT 'none' NOT NULL,
	"transcription_reason" text,
	"transcription_started_at" timestamp (3) with time zone,
	CONSTRAINT "voicemails_account_id_message_id_pk" PRIMARY KEY("account_id","message_id")
);
--> statement-breakpoint
CREATE INDEX "ix_call_recordings_session" ON "call_recordings" USING btree ("account_id","telephony_session_id");--> statement-breakpoint
CREATE INDEX "ix_call_recordings_transcribing" ON "call_recordings" USING btree ("account_id","transcription_started_at") WHERE "call_recordings"."transcription_status" = 'started';--> statement-breakpoint
CREATE INDEX "ix_calls_store_started" ON "calls" USING btree ("store_id","started_at");--> statement-breakpoint
CREATE INDEX "ix_calls_parked" ON "calls" USING btree ("account_id","next_attempt_at") WHERE "calls"."next_step" is not null;--> statement-breakpoint
CREATE INDEX "ix_calls_unresolved" ON "calls" USING btree ("account_id","started_at") WHERE "calls"."recording_status" in ('pending', 'expected', 'available') or "calls"."voicemail_status" = 'pending';--> statement-breakpoint
CREATE INDEX "ix_voicemails_session" ON "voicemails" USING btree ("account_id","telephony_session_id");--> statement-breakpoint
CREATE INDEX "ix_voicemails_transcribing" ON "voicemails" USING btree ("account_id","transcription_started_at") WHERE "voicemails"."transcription_status" = 'started';