package io.pyflow.execution.state

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.{StatefulProcessorHandleImpl, StatefulProcessorHandleState}
import org.apache.spark.sql.pyflow.StateRows
import org.apache.spark.sql.streaming.{StatefulProcessorHandle, TTLConfig}
import org.apache.spark.sql.types.{DataType, StructType}
import org.json4s.{JInt, JString, JValue}
import org.json4s.jackson.JsonMethods.parse

/**
 * The state of a processor, as Python asks for it through the upcall. It belongs to the key that Spark
 * has for the current thread.
 *
 * @param keyFields how many columns the key has
 * @param chunkRows how many rows of an iterator Python gets at a time
 * @param batchTime of the batch, in milliseconds, if its timers have one
 */
private[state] class StateAccess(
    handle: StatefulProcessorHandle,
    keyFields: Int,
    chunkRows: Int,
    batchTime: Option[Long]) {
  import StateAccess._

  private val variables = mutable.ArrayBuffer.empty[StateVariable]
  private val names = mutable.Map.empty[(Int, String), Int]
  private val iterators = mutable.Map.empty[Long, Iterator[Seq[UnsafeRow]]]
  private var lastIterator = 0L

  /** Iterators of the key before are at their end. */
  def beginKey(): Unit = iterators.clear()

  /**
   * Answers a request.
   *
   * @param code the operation, and above it the number of the variable that it is for
   * @return null for None
   */
  def answer(code: Int, argument: Array[Byte]): Array[Byte] = {
    val operation = code & OperationMask
    if (operation < FirstOfVariable || operation == EarliestTimer) {
      ofProcessor(operation, argument)
    } else {
      ofVariable(operation, variables(code >> OperationBits), argument)
    }
  }

  private def ofProcessor(operation: Int, argument: Array[Byte]): Array[Byte] = operation match {
    case ParseSchema =>
      CatalystSqlParser.parseTableSchema(text(argument)).json.getBytes(UTF_8)
    case OpenValue | OpenList | OpenMap => open(operation, parse(text(argument)))
    case DeleteIfExists =>
      val name = text(argument)
      handle.deleteIfExists(name)
      names.keys.filter(_._2 == name).toSeq.foreach(names.remove)
      None.orNull
    case RegisterTimer =>
      handle.registerTimer(number(argument))
      None.orNull
    case DeleteTimer =>
      handle.deleteTimer(number(argument))
      None.orNull
    case ListTimers => longs(handle.listTimers().toSeq)
    case EarliestTimer => longs(earliestTimer.toSeq)
    case Next => iterators.get(number(argument)).fold(NoRows)(chunk(number(argument), _))
    case other => throw invalid(other)
  }

  /**
   * The earliest timer of all keys that the batch does not reach, as the batch has found them: when it
   * is at its end Spark lets nobody look into the store. Before the first row Spark does not let look
   * for timers.
   */
  private def earliestTimer: Option[Long] = (handle, batchTime) match {
    case (all: StatefulProcessorHandleImpl, Some(now)) =>
      val state = all.getHandleState
      all.setHandleState(StatefulProcessorHandleState.INITIALIZED)
      try PySparkState.timers(all, FarTime, batchTime).map(_._2).find(_ > now)
      finally all.setHandleState(state)
    case _ => None
  }

  private def ofVariable(
      operation: Int,
      variable: StateVariable,
      argument: Array[Byte]): Array[Byte] =
    (operation, variable) match {
      case (Exists, _) => flag(variable.exists)
      case (Clear, _) => done(variable.clear())
      case (ConvertValue, _) => variable.converted(argument, 0)
      case (ConvertKey, _) => variable.converted(argument, 1)
      case (Get, value: SingleValue) => bytes(value.get)
      case (Update, value: SingleValue) => done(value.update(argument))
      case (Append, list: ValueList) => done(list.append(argument))
      case (AppendAll, list: ValueList) => done(list.appendAll(argument))
      case (Put, list: ValueList) => done(list.put(argument))
      case (Values, list: ValueList) => iterate(list.state.get().map(Seq(_)))
      case (GetOfKey, map: ValueMap) => bytes(map.get(argument))
      case (ContainsKey, map: ValueMap) => flag(map.contains(argument))
      case (UpdateOfKey, map: ValueMap) => done(map.update(argument))
      case (RemoveKey, map: ValueMap) => done(map.remove(argument))
      case (GetOfKeys, map: ValueMap) => getOfKeys(map, argument)
      case (UpdateOfKeys, map: ValueMap) => done(updateOfKeys(map, argument))
      case (Keys, map: ValueMap) => iterate(map.state.keys().map(Seq(_)))
      case (Values, map: ValueMap) => iterate(map.state.values().map(Seq(_)))
      case (Entries, map: ValueMap) =>
        iterate(map.state.iterator().map { case (key, value) => Seq(key, value) })
      case _ => throw invalid(operation)
    }

  /**
   * The values of entries of many keys.
   *
   * @param wanted pairs of a key and a key of the map
   * @return for each a byte that is 0 where there is none, and then the values
   */
  private def getOfKeys(map: ValueMap, wanted: Array[Byte]): Array[Byte] = {
    val pairs = new RowBytes.Reader(wanted)
    val found = mutable.ArrayBuffer.empty[UnsafeRow]
    val flags = mutable.ArrayBuilder.make[Byte]
    StateRows.withKey(None) {
      while (pairs.hasNext) {
        StateRows.setKey(pairs.next(keyFields))
        val value = Option(map.state.getValue(pairs.next(map.keySchema.length)))
        flags += (if (value.isDefined) 1 else 0)
        found ++= value.map(_.copy())
      }
    }
    val before = flags.result()
    val answer = RowBytes.of(found, before.length)
    System.arraycopy(before, 0, answer, 0, before.length)
    answer
  }

  /** @param entries a key, a key of the map and its value, which is empty where it is removed */
  private def updateOfKeys(map: ValueMap, entries: Array[Byte]): Unit = {
    val reader = new RowBytes.Reader(entries)
    StateRows.withKey(None) {
      while (reader.hasNext) {
        StateRows.setKey(reader.next(keyFields))
        val ofMap = reader.next(map.keySchema.length)
        val value = reader.next(map.valueSchema.length)
        if (value.getSizeInBytes == 0) map.state.removeKey(ofMap)
        else map.state.updateValue(ofMap, value)
      }
    }
  }

  private def open(kind: Int, request: JValue): Array[Byte] = {
    val name = (request \ "name").asInstanceOf[JString].s
    if (names.contains((kind, name))) {
      throw new IllegalStateException(s"${KindNames(kind)} state $name already exists")
    }
    val schema = schemaIn(request \ "schema")
    val ttl = request \ "ttl" match {
      case JInt(millis) => TTLConfig(Duration.ofMillis(millis.toLong))
      case _ => TTLConfig.NONE
    }
    val variable = kind match {
      case OpenValue =>
        SingleValue(handle.getValueState(name, StateRows.encoder(schema), ttl), schema)
      case OpenList =>
        ValueList(handle.getListState(name, StateRows.encoder(schema), ttl), schema)
      case OpenMap =>
        val values = schemaIn(request \ "value_schema")
        val state =
          handle.getMapState(name, StateRows.encoder(schema), StateRows.encoder(values), ttl)
        ValueMap(state, schema, values)
      case other => throw invalid(other)
    }
    variables += variable
    names((kind, name)) = variables.length - 1
    longs(Seq(variables.length - 1L))
  }

  private def iterate(rows: Iterator[Seq[UnsafeRow]]): Array[Byte] = {
    lastIterator += 1
    chunk(lastIterator, rows)
  }

  /**
   * The next rows of an iterator: its number, or 0 if there are no more after these, the size of the
   * keys, and the rows; of a map all keys come before all values.
   */
  private def chunk(number: Long, rows: Iterator[Seq[UnsafeRow]]): Array[Byte] = {
    val taken = mutable.ArrayBuffer.empty[Seq[UnsafeRow]]
    while (taken.length < chunkRows && rows.hasNext) taken += rows.next()
    if (rows.hasNext) iterators(number) = rows else iterators.remove(number)
    val first = taken.map(_.head)
    val answer = RowBytes.of(first ++ taken.flatMap(_.tail), 2 * java.lang.Long.BYTES)
    val header = RowBytes.littleEndian(answer)
    header.putLong(if (iterators.contains(number)) number else 0L)
    header.putLong(first.iterator.map(RowBytes.sizeOf(_).toLong).sum)
    answer
  }
}

private[state] object StateAccess {
  // Numbers of pyflow/thread_mode/state_access.py.
  val NextRows = 0
  val LateRows = 35
  private val ParseSchema = 1
  private val OpenValue = 2
  private val OpenList = 3
  private val OpenMap = 4
  private val DeleteIfExists = 5
  private val RegisterTimer = 6
  private val DeleteTimer = 7
  private val ListTimers = 8
  private val Next = 9
  // Above those of variables and of KeyedState, whose numbers are given.
  private val EarliestTimer = 32
  private val GetOfKeys = 33
  private val UpdateOfKeys = 34
  private val FirstOfVariable = 10
  private val Exists = 10
  private val Clear = 11
  private val ConvertValue = 12
  private val ConvertKey = 13
  private val Get = 14
  private val Update = 15
  private val Append = 16
  private val AppendAll = 17
  private val Put = 18
  private val GetOfKey = 19
  private val ContainsKey = 20
  private val UpdateOfKey = 21
  private val RemoveKey = 22
  private val Keys = 23
  private val Values = 24
  private val Entries = 25

  /** Later than any timer. */
  private val FarTime = Long.MaxValue / 2

  private val OperationBits = 8
  private val OperationMask = (1 << OperationBits) - 1

  private val KindNames = Map(OpenValue -> "Value", OpenList -> "List", OpenMap -> "Map")
  private val Yes = Array.emptyByteArray
  private val NoRows = new Array[Byte](2 * java.lang.Long.BYTES)

  private def invalid(operation: Int): Exception =
    new IllegalArgumentException(s"Invalid method call: $operation")

  private def flag(value: Boolean): Array[Byte] = if (value) Yes else None.orNull

  private def done(nothing: Unit): Array[Byte] = None.orNull

  private def bytes(row: Option[UnsafeRow]): Array[Byte] = row.map(RowBytes.of).orNull

  private def text(argument: Array[Byte]): String = new String(argument, UTF_8)

  /** The number that an argument is. */
  def number(argument: Array[Byte]): Long = RowBytes.littleEndian(argument).getLong

  private def longs(values: Seq[Long]): Array[Byte] = {
    val buffer: ByteBuffer =
      RowBytes.littleEndian(new Array[Byte](values.length * java.lang.Long.BYTES))
    values.foreach(buffer.putLong)
    buffer.array
  }

  private def schemaIn(json: JValue): StructType = json match {
    case JString(schema) => DataType.fromJson(schema).asInstanceOf[StructType]
    case other => throw new IllegalArgumentException(s"no schema: $other")
  }
}
